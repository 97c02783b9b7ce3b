// Comparisons, and choices by a predicate or a number.
#include "card/forms/form.h"

namespace opgate::card {
namespace {

const char* const kGroup = "comparisons";

std::vector<std::string> comparisons_of(const std::string& type) {
  const char letter = type[0];
  if (letter == 'b' && type.substr(0, 2) != "bf") return {"eq", "ne"};
  if (letter == 's') return {"eq", "ne", "lt", "le", "gt", "ge"};
  if (letter == 'u') return {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
  return {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
}

void add_predicates(std::vector<Form>& forms) {
  for (const std::string t :
       {"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64", "f16", "bf16"}) {
    for (const std::string& comparison : comparisons_of(t)) {
      forms.push_back(plain_form(kGroup, "setp." + comparison + "." + t, "pred", {t, t}));
      if (t == "f32" || t == "f16")
        forms.push_back(plain_form(kGroup, "setp." + comparison + ".ftz." + t, "pred", {t, t}));
    }
  }
  for (const std::string with : {"and", "or", "xor"}) {
    for (const std::string t : {"s32", "f32"}) {
      const std::string operands = " %p0|%p4, " + register_of(t, 1) + ", " + register_of(t, 2) + ", ";
      forms.push_back(
          {kGroup, "setp.lt." + with + "." + t + operands + "%p3;", {t, t, "pred"}, "pred", "pred"});
      forms.push_back(
          {kGroup, "setp.ge." + with + "." + t + operands + "!%p3;", {t, t, "pred"}, "pred", "pred"});
    }
  }
  for (const std::string t : {"f16x2", "bf16x2"}) {
    for (const std::string comparison : {"lt", "neu", "num"})
      forms.push_back(
          {kGroup, "setp." + comparison + "." + t + " %p0|%p4, %r1, %r2;", {t, t, ""}, "pred", "pred"});
  }
}

void add_values(std::vector<Form>& forms) {
  for (const std::string from : {"u32", "s32", "f32", "f64", "s16", "u64"}) {
    for (const std::string to : {"u32", "s32", "f32"}) {
      for (const std::string comparison : {"eq", "lt"})
        forms.push_back(plain_form(kGroup, "set." + comparison + "." + to + "." + from, to, {from, from}));
    }
  }
  forms.push_back(plain_form(kGroup, "set.gtu.ftz.u32.f32", "u32", {"f32", "f32"}));
  for (const std::string t : {"f16", "bf16"}) {
    forms.push_back(plain_form(kGroup, "set.lt." + t + "." + t, t, {t, t}));
    forms.push_back(plain_form(kGroup, "set.neu.u32." + t, "u32", {t, t}));
    forms.push_back(plain_form(kGroup, "set.geu." + t + "x2." + t + "x2", t + "x2", {t + "x2", t + "x2"}));
    forms.push_back(plain_form(kGroup, "set.lt.u32." + t + "x2", "u32", {t + "x2", t + "x2"}));
  }
}

void add_choices(std::vector<Form>& forms) {
  for (const std::string t : {"b16", "b32", "b64", "f32", "f64"}) {
    forms.push_back(plain_form(kGroup, "selp." + t, t, {t, t, "pred"}));
    forms.push_back(plain_form(kGroup, "slct." + t + ".s32", t, {t, t, "s32"}));
    forms.push_back(plain_form(kGroup, "slct." + t + ".f32", t, {t, t, "f32"}));
    forms.push_back(plain_form(kGroup, "slct.ftz." + t + ".f32", t, {t, t, "f32"}));
  }
}

}  // namespace

void add_comparison_forms(std::vector<Form>& forms) {
  add_predicates(forms);
  add_values(forms);
  add_choices(forms);
}

}  // namespace opgate::card
