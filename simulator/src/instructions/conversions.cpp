// cvt: between integers and numbers of all widths.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace conversions {

// How to convert is in the immediate value.
constexpr std::int64_t kRounding = 7;  // the enumeration
constexpr std::int64_t kFlush = 8;
constexpr std::int64_t kSaturate = 16;
constexpr std::int64_t kToIntegral = 32;  // .rni .rzi .rmi .rpi
constexpr std::int64_t kRelu = 64;

Rounding rounding_of(const Instruction& in) { return static_cast<Rounding>(in.immediate & kRounding); }

template <class To, class From>
void extend(Thread& thread, const Instruction& in) {
  write(thread, in, 0, static_cast<To>(read<From>(thread, in, 1)));
}

// Into the range of the type: negative numbers become 0 in an unsigned one.
template <class To, class From>
void extend_saturating(Thread& thread, const Instruction& in) {
  const __int128 value = read<From>(thread, in, 1);
  const __int128 least = std::numeric_limits<To>::min();
  const __int128 most = std::numeric_limits<To>::max();
  write(thread, in, 0, static_cast<To>(value < least ? least : value > most ? most : value));
}

double to_integral(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return semantics::integral_rz(value);
    case Rounding::down:
      return semantics::integral_rm(value);
    case Rounding::up:
      return semantics::integral_rp(value);
    default:
      return semantics::integral_rn(value);
  }
}

template <class T>
constexpr bool kIsSmall = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

// `.ftz` flushes no sources of conversions to 16 bits.
template <class From, class To>
double as_double(const Thread& thread, const Instruction& in) {
  if constexpr (std::is_same_v<From, float>) {
    const auto value = read<float>(thread, in, 1);
    return (in.immediate & kFlush) != 0 && !kIsSmall<To> ? flushed(with_one_nan(value)) : value;
  } else if constexpr (std::is_same_v<From, double>) {
    return read<double>(thread, in, 1);
  } else {
    return to_double(read<From>(thread, in, 1));
  }
}

template <class To, class From>
void to_integer(Thread& thread, const Instruction& in) {
  const double value = to_integral(as_double<From, To>(thread, in), rounding_of(in));
  write(thread, in, 0,
        semantics::to_integer(value, OPGATE_INTEGER_OF_NAN(To, (std::is_same_v<From, double>))));
}

template <class To>
void write_number(Thread& thread, const Instruction& in, double value) {
  if ((in.immediate & kSaturate) != 0) value = saturated(value);
  if ((in.immediate & kRelu) != 0 && !(value > 0) && value == value) value = 0;
  if constexpr (std::is_same_v<To, double>) {
    write(thread, in, 0, quieted(value));
  } else if constexpr (std::is_same_v<To, float>) {
    const Rounding rounding = rounding_of(in);
    const float narrow = with_one_nan(rounding == Rounding::nearest ? static_cast<float>(value)
                                                                    : rounded_to_float(value, rounding));
    write(thread, in, 0, (in.immediate & kFlush) != 0 ? flushed(narrow) : narrow);
  } else {
    write(thread, in, 0, rounded<To>(value, rounding_of(in)));
  }
}

// The highest bits of the payload of a NaN of double precision, which is quiet then.
template <class To>
std::uint64_t narrower_nan(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(quieted(value));
  if constexpr (std::is_same_v<To, float>)
    return (bits >> 32 & 0x80000000u) | 0x7f800000u | (bits >> 29 & 0x7fffffu);
  if constexpr (std::is_same_v<To, Half>) return (bits >> 48 & 0x8000u) | 0x7c00u | (bits >> 42 & 0x3ffu);
  return (bits >> 48 & 0x8000u) | 0x7f80u | (bits >> 45 & 0x7fu);
}

template <class To, class From>
void between_floats(Thread& thread, const Instruction& in) {
  if constexpr (std::is_same_v<From, Bfloat16> && std::is_same_v<To, float>) {
    // The upper half of a number in single precision, also of a NaN.
    write(thread, in, 0, std::uint32_t{read<std::uint16_t>(thread, in, 1)} << 16);
    return;
  }
  const double value = as_double<From, To>(thread, in);
  if constexpr (std::is_same_v<From, double> && !std::is_same_v<To, double>) {
    if (value != value && (in.immediate & kSaturate) == 0) {
      write(thread, in, 0, narrower_nan<To>(value));
      return;
    }
  }
  write_number<To>(thread, in,
                   (in.immediate & kToIntegral) != 0 ? to_integral(value, rounding_of(in)) : value);
}

// The integer as a double, where one that has too many bits is cut to 53, the last of which says whether
// anything was lost. Rounding that to a narrower type gives what rounding the integer would have given.
template <class From>
double integer_to_odd(From value) {
  const bool negative = value < From{0};
  std::uint64_t magnitude = static_cast<std::uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  const int excess = std::max(0, 11 - std::countl_zero(magnitude));
  const std::uint64_t kept = magnitude >> excess;
  const bool lost = kept << excess != magnitude;
  const double result = std::ldexp(static_cast<double>(lost ? kept | 1 : kept), excess);
  return negative ? -result : result;
}

template <class From>
double integer_to_double(From value, Rounding rounding) {
  const auto nearest = static_cast<double>(value);
  if (rounding == Rounding::nearest || sizeof(From) < 8) return nearest;
  // Towards the side that is asked for, if rounding to nearest has gone to the other one.
  const __int128 lost = static_cast<__int128>(nearest) - value;
  const bool upwards = rounding == Rounding::up || (rounding == Rounding::zero && value < From{0});
  if (lost > 0 && !upwards) return std::nextafter(nearest, -HUGE_VAL);
  if (lost < 0 && upwards) return std::nextafter(nearest, HUGE_VAL);
  return nearest;
}

template <class To, class From>
void from_integer(Thread& thread, const Instruction& in) {
  const From value = read<From>(thread, in, 1);
  if constexpr (std::is_same_v<To, double>) {
    write_number<double>(thread, in, integer_to_double(value, rounding_of(in)));
  } else if constexpr (sizeof(From) < 8) {
    write_number<To>(thread, in, static_cast<double>(value));
  } else {
    write_number<To>(thread, in, integer_to_odd(value));
  }
}

Handler between_integers(Type to, Type from, bool saturate) {
  if (as_number(to) != to) return nullptr;  // bits are converted to nothing
  return for_integer(to, [&]<class To>() {
    if (saturate) return for_integer(from, []<class From>() { return &extend_saturating<To, From>; });
    return for_integer(from, []<class From>() { return &extend<To, From>; });
  });
}

template <class To>
Handler to_float(Type from) {
  switch (from) {
    case Type::f16:
      return &between_floats<To, Half>;
    case Type::bf16:
      return &between_floats<To, Bfloat16>;
    case Type::f32:
      return &between_floats<To, float>;
    case Type::f64:
      return &between_floats<To, double>;
    default:
      return for_integer(from, []<class From>() { return &from_integer<To, From>; });
  }
}

template <class From>
Handler from_float(Type to) {
  return for_integer(to, []<class To>() { return &to_integer<To, From>; });
}

Handler choose(Type to, Type from, bool saturate) {
  switch (to) {
    case Type::f16:
      return to_float<Half>(from);
    case Type::bf16:
      return to_float<Bfloat16>(from);
    case Type::f32:
      return to_float<float>(from);
    case Type::f64:
      return to_float<double>(from);
    default:
      break;
  }
  switch (from) {
    case Type::f16:
      return from_float<Half>(to);
    case Type::bf16:
      return from_float<Bfloat16>(to);
    case Type::f32:
      return from_float<float>(to);
    case Type::f64:
      return from_float<double>(to);
    default:
      return between_integers(to, from, saturate);
  }
}

}  // namespace conversions

static Handler select_conversion(Draft& draft) {
  using namespace conversions;
  Modifiers& modifiers = draft.modifiers;
  if (modifiers.take("pack")) return select_pack_conversion(draft);
  std::int64_t flags = 0;
  std::optional<Rounding> rounding = modifiers.take_rounding();
  if (const auto integral = modifiers.take_one({"rni", "rzi", "rmi", "rpi"})) {
    constexpr Rounding kInOrder[] = {Rounding::nearest, Rounding::zero, Rounding::down, Rounding::up};
    rounding = kInOrder[*integral];
    flags |= kToIntegral;
  }
  if (modifiers.take("rna")) rounding = Rounding::away;
  flags |= static_cast<std::int64_t>(rounding.value_or(Rounding::nearest));
  if (modifiers.take("ftz")) flags |= kFlush;
  if (modifiers.take("sat")) flags |= kSaturate;
  if (modifiers.take("relu")) flags |= kRelu;
  draft.instruction.immediate = flags;
  const Type to = modifiers.take_type();
  const Type from = modifiers.take_type();
  if (draft.operands.size() != 2 || to == Type::tf32 || bytes_of(to) == 0 || to == Type::e4m3x2 ||
      to == Type::e5m2x2 || from == Type::e4m3x2 || from == Type::e5m2x2)
    return small_conversion(draft, to, from, rounding.value_or(Rounding::nearest));
  return choose(to, from, (flags & kSaturate) != 0);
}

std::vector<OpcodeRow> opcodes_of_conversions() {
  return {
      {"cvt", {&select_conversion, 2, 4, Result::first, Waits::never, &no_effect, &flow_of_conversion}},
  };
}

}  // namespace opgate::simulator
