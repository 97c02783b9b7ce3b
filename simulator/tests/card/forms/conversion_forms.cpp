// cvt between all types.
#include "card/forms/form.h"

namespace opgate::card {
namespace {

const char* const kGroup = "conversions";
const std::vector<std::string> kIntegers{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
const std::vector<std::string> kFloats{"f16", "bf16", "f32", "f64"};

void add(std::vector<Form>& forms, const std::string& words, const std::string& to, const std::string& from) {
  forms.push_back(plain_form(kGroup, "cvt" + words + "." + to + "." + from, to, {from}));
}

int bits_of(const std::string& type) { return std::stoi(type.substr(1)); }

// ptxas accepts `.sat` only where a value of the source may lie outside of the result's range.
bool can_saturate(const std::string& to, const std::string& from) {
  if (to[0] == from[0]) return bits_of(from) > bits_of(to);
  if (to[0] == 'u') return true;
  return bits_of(from) >= bits_of(to);
}

void add_integers(std::vector<Form>& forms) {
  for (const std::string& to : kIntegers) {
    for (const std::string& from : kIntegers) {
      if (to == from) continue;
      add(forms, "", to, from);
      if (can_saturate(to, from)) add(forms, ".sat", to, from);
    }
    for (const std::string& from : kFloats) {
      if (from == "bf16" && bits_of(to) == 8) continue;  // PTX has no such conversion
      for (const std::string rounding : {".rni", ".rzi", ".rmi", ".rpi"}) {
        add(forms, rounding, to, from);
        if (from == "f32") add(forms, rounding + ".ftz", to, from);
      }
      if (from != "bf16") add(forms, ".rzi.sat", to, from);
    }
    for (const std::string& float_type : kFloats) {
      if (float_type == "bf16" && bits_of(to) == 8) continue;
      for (const std::string rounding : {".rn", ".rz", ".rm", ".rp"}) add(forms, rounding, float_type, to);
    }
  }
}

void add_floats(std::vector<Form>& forms) {
  for (const std::string& t : {std::string("f16"), std::string("f32"), std::string("f64")}) {
    for (const std::string rounding : {".rni", ".rzi", ".rmi", ".rpi"}) {
      add(forms, rounding, t, t);
      add(forms, rounding + ".sat", t, t);
      if (t == "f32") add(forms, rounding + ".ftz", t, t);
    }
    add(forms, ".sat", t, t);
  }
  for (const std::string rounding : {".rn", ".rz", ".rm", ".rp"}) {
    for (const std::string words : {"", ".sat"}) {
      add(forms, rounding + words, "f32", "f64");
      add(forms, rounding + words, "f16", "f64");
      add(forms, rounding + words, "f16", "f32");
    }
    add(forms, rounding + ".ftz", "f32", "f64");
    add(forms, rounding + ".ftz", "f16", "f32");
    add(forms, rounding, "bf16", "f64");
    add(forms, rounding, "bf16", "f32");
    add(forms, rounding, "bf16", "f16");
    add(forms, rounding, "f16", "bf16");
  }
  add(forms, ".rn.relu", "f16", "f32");
  add(forms, ".rn.relu", "bf16", "f32");
  for (const std::string words : {"", ".ftz", ".sat"}) {
    add(forms, words, "f32", "f16");
    add(forms, words, "f64", "f32");
  }
  for (const std::string words : {"", ".sat"}) add(forms, words, "f64", "f16");
  add(forms, "", "f64", "bf16");
  add(forms, "", "f32", "bf16");
  add(forms, ".ftz", "f32", "f32");
}

void add_packed(std::vector<Form>& forms) {
  for (const std::string to : {"f16x2", "bf16x2"}) {
    for (const std::string words : {".rn", ".rz", ".rn.relu", ".rz.relu"})
      forms.push_back(plain_form(kGroup, "cvt" + words + "." + to + ".f32", to, {"f32", "f32"}));
  }
  for (const std::string words : {".rna", ".rn", ".rz", ".rn.relu", ".rz.relu"})
    add(forms, words, "tf32", "f32");
  for (const std::string to : {"e4m3x2", "e5m2x2"}) {
    for (const std::string words : {".rn.satfinite", ".rn.satfinite.relu"}) {
      forms.push_back(plain_form(kGroup, "cvt" + words + "." + to + ".f32", to, {"f32", "f32"}));
      add(forms, words, to, "f16x2");
    }
    add(forms, ".rn", "f16x2", to);
    add(forms, ".rn.relu", "f16x2", to);
  }
}

void add_packs_of_integers(std::vector<Form>& forms) {
  for (const std::string sign : {"u", "s"}) {
    forms.push_back(plain_form(kGroup, "cvt.pack.sat." + sign + "16.s32", "b32", {"s32", "s32"}));
    for (const std::string bits : {"8", "4", "2"})
      forms.push_back(
          plain_form(kGroup, "cvt.pack.sat." + sign + bits + ".s32.b32", "b32", {"s32", "s32", "b32"}));
  }
}

}  // namespace

void add_conversion_forms(std::vector<Form>& forms) {
  add_integers(forms);
  add_floats(forms);
  add_packed(forms);
  add_packs_of_integers(forms);
}

}  // namespace opgate::card
