#include "spec/naming_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace opgate {

const NamingWord& naming_word(std::string_view word) {
  const auto* const row = std::ranges::find(kNamingWords, word, &NamingWord::word);
  if (row == kNamingWords.end())
    throw std::logic_error(
        fmt::format("kNamingWords has no row of '{}', with which a spec names something", word));
  return *row;
}

std::vector<std::string> names_as_texts(const NamingWord& word, const SpecNames& names) {
  std::vector<std::string> texts;
  const auto add = [&](const auto member) {
    for (const auto& name : names.*member) texts.push_back(fmt::format("{}", name));
  };
  std::visit(add, word.names);
  std::ranges::sort(texts);
  return texts;
}

}  // namespace opgate
