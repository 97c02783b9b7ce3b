// Arithmetic in single and double precision, and what is approximate.
#include <cmath>

#include "card/forms/form.h"

namespace opgate::card {
namespace {

const char* const kGroup = "floats";
const char* const kApproximate = "approximate";

// The errors that the manual of PTX documents.
double bits_23(double, double result) { return std::fabs(result) * 0x1p-23; }
double bits_22(double, double result) { return std::fabs(result) * 0x1p-22; }
double of_root(double, double result) { return std::fabs(result) * std::exp2(-22.9); }
double of_logarithm(double value, double result) {
  return value > 0.5 && value < 2 ? 0x1p-22 : std::fabs(result) * 0x1p-22;
}
double of_sine(double value, double) {
  const double turns = std::fabs(value) / 6.283185307179586;
  return turns <= 1 ? std::exp2(-20.5) : turns <= 50 ? std::exp2(-14.7) : -1;
}
double of_tangent(double, double result) { return std::fabs(result) * 0x1p-11; }
double of_quotient(double, double result) { return std::fabs(result) * 0x1p-22; }
double of_half_power(double, double result) { return std::fabs(result) * std::exp2(-9.9); }
double of_bfloat16_power(double, double result) { return std::fabs(result) * 0x1p-7; }
double of_half_tangent(double, double) { return std::exp2(-10.987); }
double of_bfloat16_tangent(double, double) { return 0x1p-8; }
// The manual calls them gross approximations and gives no bound: here, four units of the upper half.
double of_upper_half(double, double result) { return std::fabs(result) * 0x1p-18; }

void add_arithmetic(std::vector<Form>& forms) {
  for (const std::string t : {"f32", "f64"}) {
    for (const std::string rounding : {".rn", ".rz", ".rm", ".rp"}) {
      for (const std::string flush : {"", ".ftz"}) {
        if (t == "f64" && !flush.empty()) continue;
        for (const std::string saturate : {"", ".sat"}) {
          if (t == "f64" && !saturate.empty()) continue;
          const std::string words = rounding + flush + saturate + "." + t;
          for (const char* const opcode : {"add", "sub", "mul"})
            forms.push_back(plain_form(kGroup, opcode + words, t, {t, t}));
          forms.push_back(plain_form(kGroup, "fma" + words, t, {t, t, t}));
        }
        const std::string words = rounding + flush + "." + t;
        forms.push_back(plain_form(kGroup, "div" + words, t, {t, t}));
        forms.push_back(plain_form(kGroup, "rcp" + words, t, {t}));
        forms.push_back(plain_form(kGroup, "sqrt" + words, t, {t}));
      }
    }
  }
}

void add_choices(std::vector<Form>& forms) {
  for (const char* const opcode : {"min", "max"}) {
    for (const std::string words : {"", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs"})
      forms.push_back(plain_form(kGroup, opcode + words + ".f32", "f32", {"f32", "f32"}));
    forms.push_back(plain_form(kGroup, std::string(opcode) + ".f64", "f64", {"f64", "f64"}));
  }
  for (const std::string t : {"f32", "f64"}) {
    for (const std::string opcode : {"abs", "neg"}) {
      forms.push_back(plain_form(kGroup, opcode + "." + t, t, {t}));
      if (t == "f32") forms.push_back(plain_form(kGroup, opcode + ".ftz.f32", t, {t}));
    }
    forms.push_back(plain_form(kGroup, "copysign." + t, t, {t, t}));
    for (const std::string question : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"})
      forms.push_back(plain_form(kGroup, "testp." + question + "." + t, "pred", {t}));
  }
}

}  // namespace

void add_float_forms(std::vector<Form>& forms) {
  add_arithmetic(forms);
  add_choices(forms);
}

void add_function_forms(std::vector<Form>& forms) {
  const auto single = [&](const std::string& opcode, Allowed allowed) {
    for (const std::string flush : {"", ".ftz"})
      forms.push_back(plain_form(kApproximate, opcode + ".approx" + flush + ".f32", "f32", {"f32"}, allowed));
  };
  single("rcp", &bits_23);
  single("sqrt", &bits_23);
  single("rsqrt", &of_root);
  single("ex2", &bits_22);
  single("lg2", &of_logarithm);
  single("sin", &of_sine);
  single("cos", &of_sine);
  for (const std::string flush : {"", ".ftz"}) {
    forms.push_back(
        plain_form(kApproximate, "div.approx" + flush + ".f32", "f32", {"f32", "f32"}, &of_quotient));
    forms.push_back(
        plain_form(kApproximate, "div.full" + flush + ".f32", "f32", {"f32", "f32"}, &of_quotient));
  }
  forms.push_back(plain_form(kApproximate, "tanh.approx.f32", "f32", {"f32"}, &of_tangent));
  forms.push_back(plain_form(kApproximate, "tanh.approx.f16", "f16", {"f16"}, &of_half_tangent));
  forms.push_back(plain_form(kApproximate, "tanh.approx.bf16", "bf16", {"bf16"}, &of_bfloat16_tangent));
  forms.push_back(plain_form(kApproximate, "ex2.approx.f16", "f16", {"f16"}, &of_half_power));
  forms.push_back(plain_form(kApproximate, "ex2.approx.ftz.bf16", "bf16", {"bf16"}, &of_bfloat16_power));
  forms.push_back(plain_form(kApproximate, "rcp.approx.ftz.f64", "f64", {"f64"}, &of_upper_half));
  forms.push_back(plain_form(kApproximate, "rsqrt.approx.ftz.f64", "f64", {"f64"}, &of_upper_half));
  forms.push_back(plain_form(kApproximate, "rsqrt.approx.f64", "f64", {"f64"}, &of_root));
}

void add_small_float_forms(std::vector<Form>& forms) {
  for (const std::string t : {"f16", "bf16", "f16x2", "bf16x2"}) {
    const bool is_half = t[0] == 'f';
    for (const std::string flush : {"", ".ftz"}) {
      if (!is_half && !flush.empty()) continue;
      for (const std::string saturate : {"", ".sat"}) {
        if (!is_half && !saturate.empty()) continue;
        for (const char* const opcode : {"add", "sub", "mul"})
          forms.push_back(
              plain_form(kGroup, opcode + std::string(".rn") + flush + saturate + "." + t, t, {t, t}));
        forms.push_back(plain_form(kGroup, "fma.rn" + flush + saturate + "." + t, t, {t, t, t}));
      }
      forms.push_back(plain_form(kGroup, "fma.rn" + flush + ".relu." + t, t, {t, t, t}));
      for (const char* const opcode : {"min", "max"}) {
        for (const std::string words : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
          forms.push_back(plain_form(kGroup, opcode + flush + words + "." + t, t, {t, t}));
      }
    }
    forms.push_back(plain_form(kGroup, "abs." + t, t, {t}));
    forms.push_back(plain_form(kGroup, "neg." + t, t, {t}));
  }
}

}  // namespace opgate::card
