// Atomic instructions: each thread on memory of its own, which begins as its first source.
#include "card/forms/form.h"

namespace opgate::card {
namespace {

const char* const kGroup = "atomics";

std::string word_of(const std::string& type) {
  const std::string letter = letter_of(type);
  return letter == "h" ? "b16" : letter == "rd" || letter == "fd" ? "b64" : "b32";
}

void add(std::vector<Form>& forms, const std::string& operation, const std::string& type) {
  for (const std::string space : {"global", "shared"}) {
    const std::string at = space == "global" ? "[%rd20]" : "[%r20]";
    const bool swaps = operation == "cas";
    const std::string sources = register_of(type, 2) + (swaps ? ", " + register_of(type, 3) : "");
    const std::string words =
        space + "." + operation +
        (type == "f16x2" || type == "bf16x2" || type == "f16" || type == "bf16" ? ".noftz." : ".") + type;
    const std::string begin =
        "st." + space + "." + word_of(type) + " " + at + ", " + register_of(type, 1) + "; ";
    const std::string end =
        " ld." + space + "." + word_of(type) + " " + register_of(type, 4) + ", " + at + ";";
    Form form{kGroup,
              begin + "atom." + words + " " + register_of(type, 0) + ", " + at + ", " + sources + ";" + end,
              {type, type, swaps ? type : ""},
              type,
              type};
    forms.push_back(form);
    if (swaps || operation == "exch") continue;
    form.text = begin + "mov." + word_of(type) + " " + register_of(type, 0) + ", " + register_of(type, 1) +
                "; red." + words + " " + at + ", " + sources + ";" + end;
    forms.push_back(form);
  }
}

}  // namespace

void add_memory_forms(std::vector<Form>& forms) {
  for (const std::string bits : {"32", "64"}) {
    for (const std::string operation : {"and", "or", "xor", "exch", "cas"}) add(forms, operation, "b" + bits);
    for (const std::string operation : {"min", "max"}) {
      add(forms, operation, "u" + bits);
      add(forms, operation, "s" + bits);
    }
  }
  for (const std::string type : {"u32", "s32", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"})
    add(forms, "add", type);
  add(forms, "inc", "u32");
  add(forms, "dec", "u32");
  add(forms, "cas", "b16");
}

}  // namespace opgate::card
