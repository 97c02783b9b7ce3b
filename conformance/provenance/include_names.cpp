#include "provenance/include_names.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace opgate {
namespace {

// Removes blanks, and then `word`, from the start of `text`; returns whether the word was there.
bool skip(std::string_view& text, std::string_view word) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::optional<std::set<std::string>> include_names(const std::filesystem::path& source) {
  std::ifstream file(source);
  if (!file) return std::nullopt;
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::string_view text = line;
    if (!skip(text, "#") || !skip(text, "include")) continue;
    const bool is_quoted = skip(text, "\"");
    const size_t end =
        is_quoted || skip(text, "<") ? text.find(is_quoted ? '"' : '>') : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    names.insert(std::filesystem::path(text.substr(0, end)).filename());
  }
  return names;
}

}  // namespace opgate
