#include "instructions/bulk_reductions.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace opgate::simulator {
namespace bulk_reductions {

template <AtomicOperation operation, class T>
void combine(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T old;
    T value;
    std::memcpy(&old, to + at, sizeof(T));
    std::memcpy(&value, from + at, sizeof(T));
    const T result = combined<operation>(old, value);
    std::memcpy(to + at, &result, sizeof(T));
  }
}

struct Row {
  AtomicOperation operation;
  Type type;
  bool in_shared;  ///< not in global memory alone
  Combine combine;
};

template <AtomicOperation operation, class T>
constexpr Row row(Type type, bool in_shared) {
  return {operation, type, in_shared, &combine<operation, T>};
}

using enum AtomicOperation;

constexpr std::array kRows{
    row<conjunction, std::uint32_t>(Type::b32, true),
    row<conjunction, std::uint64_t>(Type::b64, false),
    row<disjunction, std::uint32_t>(Type::b32, true),
    row<disjunction, std::uint64_t>(Type::b64, false),
    row<exclusive, std::uint32_t>(Type::b32, true),
    row<exclusive, std::uint64_t>(Type::b64, false),
    row<add, std::uint32_t>(Type::u32, true),
    row<add, std::int32_t>(Type::s32, true),
    row<add, std::uint64_t>(Type::u64, true),
    row<add, std::int64_t>(Type::s64, true),
    row<add, Half>(Type::f16, false),
    row<add, Bfloat16>(Type::bf16, false),
    row<add, float>(Type::f32, false),
    row<add, GlobalDouble>(Type::f64, false),
    row<increment, std::uint32_t>(Type::u32, true),
    row<decrement, std::uint32_t>(Type::u32, true),
    row<minimum, std::uint32_t>(Type::u32, true),
    row<minimum, std::int32_t>(Type::s32, true),
    row<minimum, std::uint64_t>(Type::u64, false),
    row<minimum, std::int64_t>(Type::s64, false),
    row<minimum, Half>(Type::f16, false),
    row<minimum, Bfloat16>(Type::bf16, false),
    row<maximum, std::uint32_t>(Type::u32, true),
    row<maximum, std::int32_t>(Type::s32, true),
    row<maximum, std::uint64_t>(Type::u64, false),
    row<maximum, std::int64_t>(Type::s64, false),
    row<maximum, Half>(Type::f16, false),
    row<maximum, Bfloat16>(Type::bf16, false),
};

// Operations on bits have types without a sign, which a map of a tensor cannot name.
bool is_of_type(const Row& row, Type type) {
  if (row.type == type) return true;
  const bool is_of_bits = row.type == Type::b32 || row.type == Type::b64;
  return is_of_bits && is_integer(type) && bytes_of(type) == bytes_of(row.type);
}

}  // namespace bulk_reductions

std::optional<AtomicOperation> take_bulk_operation(Modifiers& modifiers) {
  using enum AtomicOperation;
  static constexpr std::array kOperations{conjunction, disjunction, exclusive, add,
                                          increment,   decrement,   minimum,   maximum};
  const std::optional<int> word = modifiers.take_one({"and", "or", "xor", "add", "inc", "dec", "min", "max"});
  if (!word) return std::nullopt;
  return kOperations[static_cast<std::size_t>(*word)];
}

std::optional<std::size_t> bulk_reduction(AtomicOperation operation, Type type, bool in_shared) {
  using namespace bulk_reductions;
  const auto found = std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) {
    return row.operation == operation && is_of_type(row, type) && (row.in_shared || !in_shared);
  });
  if (found == kRows.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kRows.begin()) + 1;
}

bool take_bulk_reduction(Draft& draft, bool in_shared) {
  const std::optional<AtomicOperation> operation = take_bulk_operation(draft.modifiers);
  const Type type = draft.modifiers.take_type();
  if (!operation) return false;
  const std::optional<std::size_t> number = bulk_reduction(*operation, type, in_shared);
  if (!number) return false;
  draft.instruction.immediate = static_cast<std::int64_t>(*number);
  return true;
}

Combine combine_of_bulk_reduction(std::size_t number) {
  return number == 0 ? nullptr : bulk_reductions::kRows[number - 1].combine;
}

}  // namespace opgate::simulator
