#include "inputs/damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace opgate {
namespace {

using How = InputDamage::Kind;
using Where = InputDamage::Place;

constexpr std::string_view kPrefix = "bad:", kSize = "size", kAt = "at", kGroup = "none-in-";

template <class Meaning>
struct Word {
  Meaning meaning;
  std::string_view text;
};

// InputDamage without a value, as it stands after the dot.
constexpr std::array<Word<How>, 7> kWithoutValue{{{How::more_dims, "rank+1"},
                                                  {How::fewer_dims, "rank-1"},
                                                  {How::no_rows, "size0=0"},
                                                  {How::undefined, "undefined"},
                                                  {How::no_entries, "empty"},
                                                  {How::more_entries, "longer"},
                                                  {How::fewer_entries, "shorter"}}};
constexpr std::array<Word<Where>, 3> kElements{
    {{Where::first, "first"}, {Where::middle, "value"}, {Where::last, "last"}}};
constexpr std::array<Word<Where>, 3> kGroups{
    {{Where::first, "first"}, {Where::middle, "middle"}, {Where::last, "last"}}};

template <class Meaning, size_t kCount>
std::string_view text_in(const std::array<Word<Meaning>, kCount>& words, Meaning meaning) {
  return std::ranges::find(words, meaning, &Word<Meaning>::meaning)->text;
}

template <class Meaning, size_t kCount>
std::optional<Meaning> meaning_in(const std::array<Word<Meaning>, kCount>& words, std::string_view text) {
  const auto* const found = std::ranges::find(words, text, &Word<Meaning>::text);
  return found == words.end() ? std::nullopt : std::optional(found->meaning);
}

// The number after `begin` that is the whole rest of `text`.
std::optional<int64_t> number_behind(std::string_view begin, std::string_view text) {
  int64_t number = 0;
  if (!text.starts_with(begin)) return std::nullopt;
  text.remove_prefix(begin.size());
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(number)
                                                                         : std::nullopt;
}

// Reads what stands after the dot: "rank+1", "size2-1", "dtype=float64", "at7=nan".
bool read_damage(std::string_view text, InputDamage& damage) {
  if (const auto kind = meaning_in(kWithoutValue, text)) {
    damage.kind = *kind;
    return true;
  }
  for (const auto& [kind, end] : {std::pair(How::longer, "+1"), std::pair(How::shorter, "-1")}) {
    if (!text.ends_with(end)) continue;
    if (const auto dim = number_behind(kSize, text.substr(0, text.size() - 2))) {
      damage.kind = kind;
      damage.dim = *dim;
      return true;
    }
  }
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view what = text.substr(0, equals), value = text.substr(equals + 1);
  if (what == "group") {
    const auto place =
        value.starts_with(kGroup) ? meaning_in(kGroups, value.substr(kGroup.size())) : std::nullopt;
    damage.kind = How::group;
    damage.place = place.value_or(Where::middle);
    return place.has_value();
  }
  damage.value = value;
  damage.kind = what == "device" ? How::device : what == "dtype" ? How::dtype : How::element;
  if (damage.kind != How::element) return true;
  damage.at = number_behind(kAt, what);
  const auto place = meaning_in(kElements, what);
  damage.place = place.value_or(Where::middle);
  return damage.at || place;
}

}  // namespace

bool InputDamage::is_of_sizes() const {
  return kind == How::more_dims || kind == How::fewer_dims || kind == How::longer || kind == How::shorter ||
         kind == How::no_rows;
}

bool is_bad_input(std::string_view variant) { return variant.starts_with(kPrefix); }

std::string variant_of(const InputDamage& damage) {
  const auto text = [&](std::string_view rest) {
    return fmt::format("{}{}{}", kPrefix, damage.argument, rest);
  };
  switch (damage.kind) {
    case How::longer:
      return text(fmt::format(".{}{}+1", kSize, damage.dim));
    case How::shorter:
      return text(fmt::format(".{}{}-1", kSize, damage.dim));
    case How::device:
      return text(".device=" + damage.value);
    case How::dtype:
      return text(".dtype=" + damage.value);
    case How::element:
      if (damage.at) return text(fmt::format(".{}{}={}", kAt, *damage.at, damage.value));
      return text(fmt::format(".{}={}", text_in(kElements, damage.place), damage.value));
    case How::group:
      return text(fmt::format(".group={}{}", kGroup, text_in(kGroups, damage.place)));
    case How::value:
      return text("=" + damage.value);
    default:
      return text(fmt::format(".{}", text_in(kWithoutValue, damage.kind)));
  }
}

std::optional<InputDamage> damage_of(std::string_view variant) {
  if (!is_bad_input(variant)) return std::nullopt;
  variant.remove_prefix(kPrefix.size());
  const size_t end = variant.find_first_of(".=");
  if (end == std::string_view::npos) return std::nullopt;
  InputDamage damage{.argument = std::string(variant.substr(0, end))};
  const std::string_view rest = variant.substr(end + 1);
  if (variant[end] == '=') {
    damage.value = rest;
  } else if (!read_damage(rest, damage)) {
    return std::nullopt;
  }
  return damage;
}

std::string damaged_argument(std::string_view variant) {
  const std::optional<InputDamage> damage = damage_of(variant);
  return damage ? damage->argument.substr(0, damage->argument.find('[')) : "";
}

std::string in_words(const InputDamage& damage) {
  const std::string& argument = damage.argument;
  switch (damage.kind) {
    case How::more_dims:
      return fmt::format("`{}` has one dim more", argument);
    case How::fewer_dims:
      return fmt::format("`{}` has one dim less", argument);
    case How::longer:
      return fmt::format("dim {} of `{}` is longer by one", damage.dim, argument);
    case How::shorter:
      return fmt::format("dim {} of `{}` is shorter by one", damage.dim, argument);
    case How::no_rows:
      return fmt::format("dim 0 of `{}` is empty", argument);
    case How::undefined:
      return fmt::format("`{}` is an undefined tensor", argument);
    case How::device:
      return fmt::format("`{}` is on the {} among tensors on another device", argument, damage.value);
    case How::element:
      if (damage.at) return fmt::format("element {} of `{}` is {}", *damage.at, argument, damage.value);
      if (damage.place == Where::middle)
        return fmt::format("one element of `{}` is {}", argument, damage.value);
      return fmt::format("the {} element of `{}` is {}", text_in(kElements, damage.place), argument,
                         damage.value);
    case How::group:
      return fmt::format("nothing belongs to the {} group of `{}`", text_in(kGroups, damage.place), argument);
    case How::no_entries:
      return fmt::format("`{}` is an empty list", argument);
    case How::more_entries:
      return fmt::format("`{}` has one entry more", argument);
    case How::fewer_entries:
      return fmt::format("`{}` has one entry less", argument);
    case How::dtype:
    case How::value:
      return fmt::format("`{}` is {}", argument, damage.value);
  }
  return variant_of(damage);
}

}  // namespace opgate
