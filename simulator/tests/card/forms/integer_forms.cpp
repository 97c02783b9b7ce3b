// Arithmetic of integers, also with carries and of small integers.
#include "card/forms/form.h"

namespace opgate::card {
namespace {

const char* const kGroup = "integers";
const std::vector<std::string> kAll{"u16", "s16", "u32", "s32", "u64", "s64"};

std::string twice(const std::string& type) {
  return type.substr(0, 1) + (type.substr(1) == "16" ? "32" : "64");
}

void add_plain(std::vector<Form>& forms) {
  for (const std::string& t : kAll) {
    const bool is_signed = t[0] == 's';
    for (const char* const opcode : {"add.", "sub.", "mul.lo.", "mul.hi.", "div.", "rem.", "min.", "max."})
      forms.push_back(plain_form(kGroup, opcode + t, t, {t, t}));
    for (const char* const opcode : {"mad.lo.", "mad.hi.", "sad."})
      forms.push_back(plain_form(kGroup, opcode + t, t, {t, t, t}));
    if (is_signed) {
      forms.push_back(plain_form(kGroup, "abs." + t, t, {t}));
      forms.push_back(plain_form(kGroup, "neg." + t, t, {t}));
    }
    if (t.substr(1) == "64") continue;
    forms.push_back(plain_form(kGroup, "mul.wide." + t, twice(t), {t, t}));
    forms.push_back(plain_form(kGroup, "mad.wide." + t, twice(t), {t, t, twice(t)}));
  }
  for (const char* const opcode : {"add.sat.s32", "sub.sat.s32", "min.relu.s32", "max.relu.s32"})
    forms.push_back(plain_form(kGroup, opcode, "s32", {"s32", "s32"}));
  forms.push_back(plain_form(kGroup, "mad.hi.sat.s32", "s32", {"s32", "s32", "s32"}));
  for (const std::string t : {"u16x2", "s16x2"}) {
    for (const char* const opcode : {"add.", "min.", "max."})
      forms.push_back(plain_form(kGroup, opcode + t, "b32", {"b32", "b32"}));
  }
  for (const char* const opcode : {"min.relu.s16x2", "max.relu.s16x2"})
    forms.push_back(plain_form(kGroup, opcode, "b32", {"b32", "b32"}));
}

void add_small(std::vector<Form>& forms) {
  for (const std::string t : {"u32", "s32"}) {
    for (const std::string half : {".lo.", ".hi."}) {
      forms.push_back(plain_form(kGroup, "mul24" + half + t, t, {t, t}));
      forms.push_back(plain_form(kGroup, "mad24" + half + t, t, {t, t, t}));
    }
    for (const std::string u : {"u32", "s32"}) {
      const std::string types = t + "." + u;
      const std::string sum = t == "u32" && u == "u32" ? "u32" : "s32";
      forms.push_back(plain_form(kGroup, "dp4a." + types, sum, {"b32", "b32", sum}));
      forms.push_back(plain_form(kGroup, "dp2a.lo." + types, sum, {"b32", "b32", sum}));
      forms.push_back(plain_form(kGroup, "dp2a.hi." + types, sum, {"b32", "b32", sum}));
    }
    const std::string differences = "vabsdiff4." + t + "." + t + "." + t;
    forms.push_back(plain_form(kGroup, differences, t, {t, t, t}));
    forms.push_back(plain_form(kGroup, differences + ".add", t, {t, t, t}));
  }
  forms.push_back(plain_form(kGroup, "mad24.hi.sat.s32", "s32", {"s32", "s32", "s32"}));
}

// Arithmetic of parts of registers, with a second operation after it.
void add_video(std::vector<Form>& forms) {
  const auto add = [&](const std::string& opcode, const std::string& operands, bool has_third) {
    forms.push_back({.group = kGroup,
                     .text = opcode + " " + operands + ";",
                     .sources = {"b32", "b32", has_third ? "b32" : ""},
                     .result = "b32",
                     .second = ""});
  };
  for (const std::string opcode : {"vadd.", "vsub.", "vabsdiff.", "vmin.", "vmax."}) {
    for (const std::string types : {"u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.s32"}) {
      for (const std::string saturates : {"", ".sat"}) {
        const std::string name = opcode + types + saturates;
        add(name, "%r0, %r1, %r2", false);
        add(name, "%r0, %r1.b3, %r2.h1", false);
        add(name, "%r0.b2, %r1, %r2.b0, %r3", true);
        add(name, "%r0.h1, %r1.h0, %r2, %r3", true);
        add(name + ".add", "%r0, %r1, %r2, %r3", true);
        if (types.starts_with("u32")) continue;
        for (const std::string second : {".min", ".max"}) add(name + second, "%r0, %r1, %r2, %r3", true);
      }
    }
  }
  for (const std::string opcode : {"vshl.", "vshr."}) {
    for (const std::string types : {"u32.u32.u32", "s32.s32.u32", "u32.s32.u32"}) {
      for (const std::string saturates : {"", ".sat"}) {
        for (const std::string mode : {".clamp", ".wrap"}) {
          add(opcode + types + saturates + mode, "%r0, %r1, %r2", false);
          add(opcode + types + saturates + mode + ".add", "%r0, %r1.h1, %r2.b0, %r3", true);
        }
      }
    }
  }
  for (const std::string comparison : {".eq", ".ne", ".lt", ".le", ".gt", ".ge"}) {
    add("vset.s32.u32" + comparison, "%r0, %r1, %r2", false);
    add("vset.s32.s32" + comparison + ".add", "%r0, %r1.b1, %r2.b2, %r3", true);
  }
}

// What leaves a carry is followed by what takes it, in the same or in the other direction.
void add_carries(std::vector<Form>& forms) {
  for (const std::string bits : {"32", "64"}) {
    const std::string r = bits == "32" ? "%r" : "%rd";
    for (const std::string letter : {"u", "s"}) {
      const std::string t = letter + bits;
      const auto chain = [&](const std::string& first, const std::string& second) {
        Form form;
        form.group = kGroup;
        form.text = first + "." + t + " " + r + "0, " + r + "1, " + r + "2" +
                    (first[0] == 'm' ? ", " + r + "3" : "") + "; " + second + "." + t + " " + r + "4, " + r +
                    "3, " + r + "1" + (second[0] == 'm' ? ", " + r + "2" : "") + ";";
        form.sources = {t, t, t};
        form.result = form.second = t;
        forms.push_back(form);
      };
      for (const char* const first : {"add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"}) {
        for (const char* const second : {"addc", "subc", "madc.lo", "madc.hi"}) chain(first, second);
      }
      chain("sub.cc", "addc.cc");
      chain("add.cc", "subc.cc");
    }
  }
  // The carry that is left by one that took one.
  for (const std::string text :
       {"add.cc.u32 %r5, %r1, %r2; addc.cc.u32 %r0, %r2, %r3; addc.u32 %r4, 0, 0;",
        "sub.cc.u32 %r5, %r1, %r2; subc.cc.u32 %r0, %r2, %r3; subc.u32 %r4, 0, 0;",
        "sub.cc.u32 %r5, %r1, %r2; subc.cc.u32 %r0, %r2, %r3; addc.u32 %r4, 0, 0;",
        "mad.lo.cc.u32 %r5, %r1, %r2, %r3; madc.hi.cc.u32 %r0, %r1, %r2, %r3; addc.u32 %r4, 0, 0;",
        "mad.lo.cc.s32 %r5, %r1, %r2, %r3; madc.hi.cc.s32 %r0, %r1, %r2, %r3; addc.u32 %r4, 0, 0;"})
    forms.push_back({kGroup, text, {"u32", "u32", "u32"}, "u32", "u32"});
}

}  // namespace

void add_integer_forms(std::vector<Form>& forms) {
  add_plain(forms);
  add_small(forms);
  add_video(forms);
  add_carries(forms);
}

}  // namespace opgate::card
