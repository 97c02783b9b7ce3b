// Logic, shifts, fields of bits, and permutations.
#include "card/forms/form.h"

namespace opgate::card {
namespace {

const char* const kGroup = "bits";

void add_logic(std::vector<Form>& forms) {
  for (const std::string t : {"pred", "b16", "b32", "b64"}) {
    for (const char* const opcode : {"and.", "or.", "xor."})
      forms.push_back(plain_form(kGroup, opcode + t, t, {t, t}));
    forms.push_back(plain_form(kGroup, "not." + t, t, {t}));
    if (t == "pred") continue;
    forms.push_back(plain_form(kGroup, "cnot." + t, t, {t}));
    forms.push_back(plain_form(kGroup, "shl." + t, t, {t, "u32"}));
    for (const char letter : {'b', 'u', 's'}) {
      const std::string typed = letter + t.substr(1);
      forms.push_back(plain_form(kGroup, "shr." + typed, typed, {typed, "u32"}));
    }
  }
  for (const std::string direction : {"l", "r"}) {
    for (const std::string mode : {"wrap", "clamp"})
      forms.push_back(
          plain_form(kGroup, "shf." + direction + "." + mode + ".b32", "b32", {"b32", "b32", "u32"}));
  }
}

void add_fields(std::vector<Form>& forms) {
  for (const std::string t : {"b32", "b64"}) {
    forms.push_back(plain_form(kGroup, "popc." + t, "u32", {t}));
    forms.push_back(plain_form(kGroup, "clz." + t, "u32", {t}));
    forms.push_back(plain_form(kGroup, "brev." + t, t, {t}));
    const std::string r = "%" + letter_of(t);
    forms.push_back({kGroup,
                     "and.b32 %r5, %r3, 255; shr.u32 %r6, %r3, 8; bfi." + t + " " + r + "0, " + r + "1, " +
                         r + "2, %r5, %r6;",
                     {t, t, "u32"},
                     t,
                     ""});
  }
  for (const std::string t : {"u32", "s32", "u64", "s64"}) {
    forms.push_back(plain_form(kGroup, "bfind." + t, "u32", {t}));
    forms.push_back(plain_form(kGroup, "bfind.shiftamt." + t, "u32", {t}));
    forms.push_back(plain_form(kGroup, "bfe." + t, t, {t, "position", "position"}));
  }
  for (const std::string mode : {"clamp", "wrap"}) {
    forms.push_back(plain_form(kGroup, "szext." + mode + ".u32", "u32", {"u32", "u32"}));
    forms.push_back(plain_form(kGroup, "szext." + mode + ".s32", "s32", {"s32", "u32"}));
    forms.push_back(plain_form(kGroup, "bmsk." + mode + ".b32", "b32", {"position", "position"}));
  }
  forms.push_back(plain_form(kGroup, "fns.b32", "b32", {"b32", "lane", "small_signed"}));
}

void add_permutations(std::vector<Form>& forms) {
  for (const std::string table : {"0x00", "0x96", "0xca", "0xe8", "0x1b", "0xff"})
    forms.push_back(
        {kGroup, "lop3.b32 %r0, %r1, %r2, %r3, " + table + ";", {"b32", "b32", "b32"}, "b32", ""});
  for (const char* const with : {"or", "and"}) {
    forms.push_back(
        {kGroup,
         std::string("setp.lt.s32 %p1, %r1, %r2; lop3.") + with + ".b32 %r0|%p4, %r1, %r2, %r3, 0x80, %p1;",
         {"b32", "b32", "b32"},
         "b32",
         "pred"});
  }
  for (const std::string mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
    forms.push_back(plain_form(kGroup, "prmt.b32" + mode, "b32", {"b32", "b32", "b32"}));
  for (const std::string text : {"mov.b32 {%h0, %h4}, %r1;", "mov.b32 {%h4, %h0}, %r1;"})
    forms.push_back({kGroup, text, {"b32", "", ""}, "b16", "b16"});
  forms.push_back({kGroup, "mov.b64 {%r0, %r4}, %rd1;", {"b64", "", ""}, "b32", "b32"});
  forms.push_back({kGroup, "mov.b64 %rd0, {%r1, %r2};", {"b32", "b32", ""}, "b64", ""});
  forms.push_back({kGroup, "mov.b32 %r0, {%h1, %h2};", {"b16", "b16", ""}, "b32", ""});
  forms.push_back({kGroup, "mov.b64 {%h0, %h5, %h4, %h6}, %rd1;", {"b64", "", ""}, "b16", "b16"});
}

}  // namespace

void add_bit_forms(std::vector<Form>& forms) {
  add_logic(forms);
  add_fields(forms);
  add_permutations(forms);
}

}  // namespace opgate::card
