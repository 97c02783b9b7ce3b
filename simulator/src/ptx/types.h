// The types of PTX, and where its memory lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace opgate::simulator {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  u16x2,
  s16x2,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  f32,
  f64,
};

/// `Type::none` for a word that is not the name of a type. The name comes without its dot.
Type type_named(std::string_view name);

std::size_t bytes_of(Type type);

constexpr bool is_signed(Type type) { return type >= Type::s8 && type <= Type::s64; }
constexpr bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

/// uN for bN, which counts as a number without a sign if arithmetic is done with it. Any other type as it is.
constexpr Type as_number(Type type) {
  constexpr int kBetween = static_cast<int>(Type::u8) - static_cast<int>(Type::b8);
  return type >= Type::b8 && type <= Type::b64 ? static_cast<Type>(static_cast<int>(type) + kBetween) : type;
}
static_assert(as_number(Type::b8) == Type::u8 && as_number(Type::b64) == Type::u64);

/// How a floating-point result is rounded: to nearest (even, or away from zero where it lies in the middle),
/// towards zero, down, up.
enum class Rounding : std::uint8_t { nearest, away, zero, down, up };

enum class Space : std::uint8_t { generic, global, shared, local, parameter };

/// In generic addresses, these windows of 4 GiB each hold shared memory, local memory and the parameters of a
/// kernel. No device address may lie there; hosts have addresses below 2^47.
constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 48;
constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 49;
constexpr std::uint64_t kParameterWindow = std::uint64_t{1} << 50;
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32;

/// Functions have addresses here, by which they can be called but not read.
constexpr std::uint64_t kFunctionWindow = std::uint64_t{1} << 51;
constexpr std::uint64_t kFunctionStep = 16;

/// Where the window of a space begins; 0 for global memory, whose addresses are the generic ones.
constexpr std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return kSharedWindow;
    case Space::local:
      return kLocalWindow;
    case Space::parameter:
      return kParameterWindow;
    default:
      return 0;
  }
}

/// The space that a generic address is in.
constexpr Space space_of(std::uint64_t address) {
  if (address - kSharedWindow < kWindowBytes) return Space::shared;
  if (address - kLocalWindow < kWindowBytes) return Space::local;
  if (address - kParameterWindow < kWindowBytes) return Space::parameter;
  return Space::global;
}

}  // namespace opgate::simulator
