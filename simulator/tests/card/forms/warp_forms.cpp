// What the lanes of a warp do together. All of them take part.
#include "card/forms/form.h"

namespace opgate::card {
namespace {

const char* const kGroup = "warps";

void add(std::vector<Form>& forms, const std::string& text, const std::array<std::string, 3>& sources,
         const std::string& result, const std::string& second = "") {
  Form form{kGroup, text, sources, result, second};
  form.whole_warps = true;
  forms.push_back(form);
}

// Each lane writes the row of 16 bytes whose address it gives, and the matrices are loaded from there.
void add_matrix_moves(std::vector<Form>& forms) {
  add(forms, "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", {"b32", "", ""}, "b32");
  const std::string write =
      "st.shared.b32 [%r20], %r1; st.shared.b32 [%r20+4], %r2; st.shared.b32 [%r20+8], %r3; "
      "st.shared.b32 [%r20+12], %r18; bar.warp.sync 0xffffffff; ";
  const std::string read =
      "bar.warp.sync 0xffffffff; ld.shared.b32 %r0, [%r20]; ld.shared.b32 %r4, [%r20+8];";
  for (const std::string trans : {"", ".trans"}) {
    const std::string load = "ldmatrix.sync.aligned.m8n8.";
    add(forms, write + load + "x1" + trans + ".shared.b16 {%r0}, [%r20];", {"b32", "b32", "b32"}, "b32");
    add(forms, write + load + "x2" + trans + ".shared.b16 {%r0, %r4}, [%r20];", {"b32", "b32", "b32"}, "b32",
        "b32");
    add(forms, write + load + "x4" + trans + ".shared.b16 {%r0, %r5, %r4, %r6}, [%r20];",
        {"b32", "b32", "b32"}, "b32", "b32");
    add(forms, write + load + "x4" + trans + ".shared.b16 {%r5, %r0, %r6, %r4}, [%r20];",
        {"b32", "b32", "b32"}, "b32", "b32");
    const std::string save = "stmatrix.sync.aligned.m8n8.";
    add(forms, write + save + "x1" + trans + ".shared.b16 [%r20], {%r3}; " + read, {"b32", "b32", "b32"},
        "b32", "b32");
    add(forms, write + save + "x2" + trans + ".shared.b16 [%r20], {%r3, %r1}; " + read, {"b32", "b32", "b32"},
        "b32", "b32");
    add(forms, write + save + "x4" + trans + ".shared.b16 [%r20], {%r3, %r1, %r2, %r18}; " + read,
        {"b32", "b32", "b32"}, "b32", "b32");
  }
}

}  // namespace

void add_warp_forms(std::vector<Form>& forms) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    add(forms, "shfl.sync." + mode + ".b32 %r0|%p4, %r1, %r2, %r3, 0xffffffff;", {"b32", "b32", "b32"}, "b32",
        "pred");
    // Segments and bounds that are the same for all lanes.
    for (const std::string bounds : {"31", "0x181f", "0x1c07", "0"})
      add(forms, "shfl.sync." + mode + ".b32 %r0|%p4, %r1, %r2, " + bounds + ", 0xffffffff;",
          {"b32", "lane", ""}, "b32", "pred");
  }
  for (const std::string mode : {"all", "any", "uni"})
    add(forms, "vote.sync." + mode + ".pred %p0, %p1, 0xffffffff;", {"pred", "", ""}, "pred");
  add(forms, "vote.sync.ballot.b32 %r0, %p1, 0xffffffff;", {"pred", "", ""}, "b32");
  for (const std::string bits : {"32", "64"}) {
    const std::string type = "small" + bits;
    const std::string r = register_of("b" + bits, 1);
    add(forms, "match.any.sync.b" + bits + " %r0, " + r + ", 0xffffffff;", {type, "", ""}, "b32");
    add(forms, "match.all.sync.b" + bits + " %r0|%p4, " + r + ", 0xffffffff;", {type, "", ""}, "b32", "pred");
  }
  for (const std::string operation : {"add", "min", "max"}) {
    for (const std::string type : {"u32", "s32"})
      add(forms, "redux.sync." + operation + "." + type + " %r0, %r1, 0xffffffff;", {"b32", "", ""}, "b32");
  }
  for (const std::string operation : {"and", "or", "xor"})
    add(forms, "redux.sync." + operation + ".b32 %r0, %r1, 0xffffffff;", {"b32", "", ""}, "b32");
  add(forms, "elect.sync %r0|%p4, 0xffffffff;", {"", "", ""}, "b32", "pred");
  add(forms, "activemask.b32 %r0;", {"", "", ""}, "b32");
  add(forms, "mov.u32 %r0, %lanemask_lt; mov.u32 %r4, %lanemask_ge;", {"", "", ""}, "b32", "b32");
  add(forms, "mov.u32 %r0, %laneid; mov.u32 %r4, %lanemask_eq;", {"", "", ""}, "b32", "b32");
  add(forms, "mov.u32 %r0, %lanemask_le; mov.u32 %r4, %lanemask_gt;", {"", "", ""}, "b32", "b32");
  add_matrix_moves(forms);
}

}  // namespace opgate::card
