#include "base/text.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cctype>
#include <ctime>

namespace opgate {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

bool contains_ignoring_case(std::string text, std::string part) {
  return lower_case(std::move(text)).find(lower_case(std::move(part))) != std::string::npos;
}

}  // namespace opgate
