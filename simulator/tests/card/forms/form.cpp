#include "card/forms/form.h"

#include "unit/fake_memory.h"

namespace opgate::card {
namespace {

bool is_among(const std::string& type, std::initializer_list<const char*> types) {
  for (const char* const one : types) {
    if (type == one) return true;
  }
  return false;
}

// The word of loads and stores for a register.
std::string word_of(const std::string& letter) {
  if (letter == "h") return "b16";
  return letter == "rd" || letter == "fd" ? "b64" : "b32";
}

std::string store(const std::string& type, int index, std::size_t offset) {
  const std::string letter = letter_of(type);
  const std::string name = register_of(type, index);
  const std::string to = "[%rd21+" + std::to_string(offset) + "]";
  if (letter == "p") return "selp.b32 %r19, 1, 0, " + name + "; st.global.b32 " + to + ", %r19;\n";
  return "st.global." + word_of(letter) + " " + to + ", " + name + ";\n";
}

}  // namespace

std::string letter_of(const std::string& type) {
  if (type == "pred") return "p";
  if (is_among(type, {"f32"})) return "f";
  if (is_among(type, {"f64"})) return "fd";
  if (is_among(type, {"b64", "u64", "s64"})) return "rd";
  if (is_among(type, {"b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2"})) return "h";
  return "r";
}

std::string register_of(const std::string& type, int index) {
  return "%" + letter_of(type) + std::to_string(index);
}

Form plain_form(const std::string& group, const std::string& opcode, const std::string& result,
                const std::vector<std::string>& sources, Allowed allowed) {
  Form form;
  form.group = group;
  form.text = opcode + " " + register_of(result, 0);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    form.sources.at(i) = sources[i];
    form.text += ", " + register_of(sources[i], static_cast<int>(i) + 1);
  }
  form.text += ";";
  form.result = result;
  form.allowed = allowed;
  return form;
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  add_integer_forms(forms);
  add_bit_forms(forms);
  add_float_forms(forms);
  add_small_float_forms(forms);
  add_function_forms(forms);
  add_comparison_forms(forms);
  add_conversion_forms(forms);
  add_memory_forms(forms);
  add_warp_forms(forms);
  return forms;
}

std::string kernel_of_form(const Form& form) {
  const std::string record = std::to_string(kRecord);
  std::string body =
      ".shared .align 16 .b8 own[1024];\nmov.u32 %r18, %ctaid.x; mad.lo.u32 %r18, %r18, 64, %r1;\n"
      "mul.wide.u32 %rd21, %r18, " +
      record +
      "; add.u64 %rd21, %rd1, %rd21;\n"
      "add.u64 %rd20, %rd21, " +
      std::to_string(kOwn) +
      ";\n"
      "mov.u32 %r20, own; mad.lo.u32 %r20, %r1, 16, %r20;\n";
  for (int i = 0; i < 3; ++i) {
    const std::string& type = form.sources.at(static_cast<std::size_t>(i));
    if (type.empty()) continue;
    const std::string letter = letter_of(type);
    const std::string from = "[%rd21+" + std::to_string(8 * i) + "]";
    if (letter == "p") {
      body += "ld.global.b32 %r19, " + from + "; setp.ne.b32 " + register_of(type, i + 1) + ", %r19, 0;\n";
    } else {
      body += "ld.global." + word_of(letter) + " " + register_of(type, i + 1) + ", " + from + ";\n";
    }
  }
  body += form.text + "\n" + store(form.result, 0, kResults);
  if (!form.second.empty()) body += store(form.second, 4, kResults + 8);
  return simulator::tests::kernel_of(body);
}

}  // namespace opgate::card
