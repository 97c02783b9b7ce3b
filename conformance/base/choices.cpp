#include "base/choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

namespace opgate {
namespace {

constexpr size_t kNamesOfAList = 30;
constexpr size_t kSimilarNames = 5;

// How many letters must be inserted, removed or exchanged (Levenshtein's distance).
size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Parts of names come first: people often leave out a prefix or an ending.
auto unlikeness(std::string_view word, const std::string& name) {
  const bool part = name.find(word) != std::string::npos || word.find(name) != std::string::npos;
  return std::tuple(part ? 0 : 1, edits_between(word, name), name);
}

}  // namespace

std::string choices_for(std::string_view word, const std::vector<std::string>& names) {
  if (names.size() <= kNamesOfAList) return fmt::format("there are: {}", fmt::join(names, ", "));
  std::vector<std::string> sorted = names;
  std::ranges::partial_sort(sorted, sorted.begin() + kSimilarNames, {},
                            [&](const std::string& name) { return unlikeness(word, name); });
  return fmt::format("similar of {}: {}", names.size(),
                     fmt::join(std::span(sorted).first(kSimilarNames), ", "));
}

}  // namespace opgate
