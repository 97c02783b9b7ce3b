#include "base/choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <tuple>

namespace opgate {
namespace {

constexpr size_t kNamesOfAShortList = 30;
constexpr size_t kNamesOfALongList = 100;
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
std::vector<std::string> most_alike(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::tuple<bool, size_t, std::string>> found;
  for (const std::string& name : names) {
    const bool part = name.find(word) != std::string::npos || word.find(name) != std::string::npos;
    const size_t edits = edits_between(word, name);
    if (part || 2 * edits <= word.size()) found.emplace_back(!part, edits, name);
  }
  std::ranges::sort(found);
  std::vector<std::string> sorted;
  for (auto& each : found | std::views::take(kSimilarNames)) sorted.push_back(std::get<2>(each));
  return sorted;
}

}  // namespace

std::string choices_for(std::string_view word, const std::vector<std::string>& names) {
  if (names.size() <= kNamesOfAShortList) return fmt::format("there are: {}", fmt::join(names, ", "));
  const std::vector<std::string> similar =
      word.empty() ? std::vector<std::string>{} : most_alike(word, names);
  if (!similar.empty()) return fmt::format("similar of {}: {}", names.size(), fmt::join(similar, ", "));
  return fmt::format("there are {}: {}{}", names.size(),
                     fmt::join(names | std::views::take(kNamesOfALongList), ", "),
                     names.size() > kNamesOfALongList ? ", ..." : "");
}

}  // namespace opgate
