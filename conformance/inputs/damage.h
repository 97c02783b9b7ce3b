// What is wrong with a bad input, and the text of its variant: "bad:weight.rank+1".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opgate {

/// `InputDamage::value` of the largest integer that is tried, of a number just below the smallest normal one,
/// and of that one.
inline constexpr std::string_view kHugeInteger = "2^62";
inline constexpr std::string_view kSubnormal = "subnormal";
inline constexpr std::string_view kSmallestNormal = "smallest_normal";

/// The difference between a bad input and the sample that it is made from.
struct InputDamage {
  enum class Kind {
    more_dims,      ///< the tensor has one dim more
    fewer_dims,     ///< the tensor has one dim less
    longer,         ///< `dim` of the tensor is larger by one
    shorter,        ///< `dim` of the tensor is smaller by one
    no_rows,        ///< dim 0 of the tensor is empty
    undefined,      ///< the tensor is at::Tensor()
    device,         ///< the tensor is on the device `value`
    dtype,          ///< the tensor has the dtype `value`
    element,        ///< one element of the tensor is `value`
    group,          ///< no index or offset of the tensor names the group at `place`
    no_entries,     ///< the list is empty
    more_entries,   ///< the list has one entry more
    fewer_entries,  ///< the list has one entry less
    value,          ///< the argument, or the entry of a list, is `value`
  };
  enum class Place { first, middle, last };

  Kind kind = Kind::value;
  std::string argument;            ///< "weight", "xs[0]"
  std::string value = {};          ///< as a message would show it: "-1", "float64", "nan"; otherwise empty
  int64_t dim = 0;                 ///< of `longer` and `shorter`
  Place place = Place::middle;     ///< of `element` and `group`
  std::optional<int64_t> at = {};  ///< the index of the element, instead of `place`

  bool operator==(const InputDamage&) const = default;
  /// Whether the tensor has another rank or other sizes.
  bool is_of_sizes() const;
};

/// Whether `variant` is the text of a bad input that the engine made.
bool is_bad_input(std::string_view variant);

/// The text of the variant.
std::string variant_of(const InputDamage& damage);

/// What the text of a variant says; none for the text of any other variant.
std::optional<InputDamage> damage_of(std::string_view variant);

/// The name of the damaged argument without the index of an entry: "xs" for "bad:xs[0].rank+1"; empty for
/// variants that are no bad inputs.
std::string damaged_argument(std::string_view variant);

/// The damage in words: "`weight` has one dim more".
std::string in_words(const InputDamage& damage);

}  // namespace opgate
