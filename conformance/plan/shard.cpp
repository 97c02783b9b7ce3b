#include "plan/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "base/errors.h"

namespace opgate {
namespace {

// The number, or 0 for text that is not a positive number.
uint32_t positive(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

std::string to_string(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

Shard shard_from_string(std::string_view text) {
  const auto slash = text.find('/');
  Shard shard{positive(text.substr(0, slash)), 0};
  if (slash != std::string_view::npos) shard.count = positive(text.substr(slash + 1));
  if (shard.index == 0 || shard.index > shard.count) {
    throw setup_error("'{}' is no shard: write I/N with I from 1 to N, such as 2/3 for the second of three",
                      text);
  }
  return shard;
}

}  // namespace opgate
