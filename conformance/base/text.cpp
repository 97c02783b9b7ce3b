#include "base/text.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>

namespace opgate {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of the decimal fraction that `text` begins with, such as "0.10000000000000001" or "9.5e-07"; 0
// if there is none.
size_t length_of_fraction(std::string_view text) {
  size_t at = 0;
  const auto skip_digits = [&] {
    const size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > begin;
  };
  if (!skip_digits() || at == text.size() || text[at] != '.') return 0;
  ++at;
  if (!skip_digits()) return 0;
  if (const size_t fraction = at; at < text.size() && text[at] == 'e') {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (!skip_digits()) return fraction;
  }
  return at;
}

}  // namespace

std::string counted(size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string shortest_numbers(std::string_view text) {
  constexpr size_t kDigitsAndPoint = 17;  // fewer digits are as short already
  std::string shortened;
  while (!text.empty()) {
    const size_t length = length_of_fraction(text);
    double number = 0;
    if (length >= kDigitsAndPoint) {
      std::from_chars(text.data(), text.data() + length, number);
      shortened += fmt::format("{}", number);
      text.remove_prefix(length);
      continue;
    }
    // A number is taken whole, so that its digits do not begin another one.
    size_t taken = std::max<size_t>(length, 1);
    while (taken < text.size() && is_digit(text[taken - 1]) && is_digit(text[taken])) ++taken;
    shortened += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return shortened;
}

std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  return lower_case(text).find(lower_case(part)) != std::string::npos;
}

}  // namespace opgate
