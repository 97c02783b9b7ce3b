#include "ptx/modifiers.h"

#include <algorithm>
#include <array>

namespace opgate::simulator {

Modifiers::Modifiers(std::string_view opcode) {
  std::size_t begin = std::min(opcode.find('.'), opcode.size());
  name_ = opcode.substr(0, begin);
  while (begin < opcode.size()) {
    const std::size_t end = std::min(opcode.find('.', begin + 1), opcode.size());
    words_.push_back(opcode.substr(begin + 1, end - begin - 1));
    begin = end;
  }
}

bool Modifiers::has(std::string_view word) const {
  return std::find(words_.begin(), words_.end(), word) != words_.end();
}

bool Modifiers::take(std::string_view word) {
  const auto found = std::find(words_.begin(), words_.end(), word);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

std::optional<int> Modifiers::take_one(std::initializer_list<std::string_view> words) {
  int index = 0;
  for (const std::string_view word : words) {
    if (take(word)) return index;
    ++index;
  }
  return std::nullopt;
}

std::optional<int> Modifiers::take_next(std::initializer_list<std::string_view> words) {
  const auto first = std::find_first_of(words_.begin(), words_.end(), words.begin(), words.end());
  if (first == words_.end()) return std::nullopt;
  const auto index = std::find(words.begin(), words.end(), *first) - words.begin();
  words_.erase(first);
  return static_cast<int>(index);
}

void Modifiers::take_hints() {
  static constexpr auto kHints = std::to_array<std::string_view>(
      {"volatile", "weak",    "relaxed", "acquire", "release", "acq_rel", "sc",   "mmio",
       "cta",      "cluster", "gpu",     "sys",     "nc",      "ca",      "cg",   "cs",
       "lu",       "cv",      "wb",      "wt",      "uniform", "unified", "noftz"});
  const auto is_hint = [](std::string_view word) {
    return std::find(kHints.begin(), kHints.end(), word) != kHints.end() || word.starts_with("L1::") ||
           word.starts_with("L2::");
  };
  words_.erase(std::remove_if(words_.begin(), words_.end(), is_hint), words_.end());
}

Type Modifiers::take_type() {
  for (auto word = words_.begin(); word != words_.end(); ++word) {
    const Type type = type_named(*word);
    if (type == Type::none) continue;
    words_.erase(word);
    return type;
  }
  return Type::none;
}

std::optional<Rounding> Modifiers::take_rounding() {
  if (take("rn")) return Rounding::nearest;
  if (take("rz")) return Rounding::zero;
  if (take("rm")) return Rounding::down;
  if (take("rp")) return Rounding::up;
  return std::nullopt;
}

Space Modifiers::take_space() {
  if (take("global") || take("const")) return Space::global;
  if (take("shared") || take("shared::cta") || take("shared::cluster")) return Space::shared;
  if (take("local")) return Space::local;
  if (take("param") || take("param::entry") || take("param::func")) return Space::parameter;
  return Space::generic;
}

int Modifiers::take_lanes() {
  if (take("v2")) return 2;
  if (take("v4")) return 4;
  if (take("v8")) return 8;
  return 1;
}

}  // namespace opgate::simulator
