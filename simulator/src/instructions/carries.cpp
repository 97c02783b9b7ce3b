// Additions, subtractions and multiplications that pass a carry on, of which code builds wider integers.
#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace carries {

enum class Operation : std::uint8_t { add, subtract, multiply_low, multiply_high };

using Wide = unsigned __int128;

// One handler for each operation and width; the carries are in the immediate value, because these
// instructions are rare.
constexpr std::int64_t kIn = 1;
constexpr std::int64_t kOut = 2;

template <class T, Operation operation>
void execute(Thread& thread, const Instruction& in) {
  constexpr int kBits = 8 * sizeof(T);
  Wide a = read<T>(thread, in, 1);
  Wide b = read<T>(thread, in, 2);
  constexpr bool kSubtracts = operation == Operation::subtract;
  const Wide carry = (in.immediate & kIn) != 0 ? Wide{thread.carry} : Wide{kSubtracts};
  if constexpr (operation == Operation::multiply_low || operation == Operation::multiply_high) {
    const Wide product = a * b;
    a = static_cast<T>(operation == Operation::multiply_low ? product : product >> kBits);
    b = read<T>(thread, in, 3);
  }
  // A subtraction adds the complement: the flag after it is 1 if nothing was borrowed, as an H100 keeps it.
  if constexpr (kSubtracts) b = static_cast<T>(~static_cast<T>(b));
  const Wide result = a + b + carry;
  if ((in.immediate & kOut) != 0) thread.carry = (result >> kBits & 1) != 0;
  write(thread, in, 0, static_cast<T>(result));
}

// The high half of a signed product is another one than that of the unsigned product.
template <class T>
void execute_signed_high(Thread& thread, const Instruction& in) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr int kBits = 8 * sizeof(T);
  const __int128 product = static_cast<__int128>(read<T>(thread, in, 1)) * read<T>(thread, in, 2);
  const Wide a = static_cast<Unsigned>(product >> kBits);
  const Wide b = read<Unsigned>(thread, in, 3);
  const Wide result = a + b + ((in.immediate & kIn) != 0 && thread.carry ? 1 : 0);
  if ((in.immediate & kOut) != 0) thread.carry = (result >> kBits & 1) != 0;
  write(thread, in, 0, static_cast<Unsigned>(result));
}

template <Operation operation>
Handler for_width(Type type) {
  return bytes_of(type) == 8 ? &execute<std::uint64_t, operation> : &execute<std::uint32_t, operation>;
}

}  // namespace carries

Handler integer_with_carry(Draft& draft, Type type, bool carries_in, bool carries_out) {
  using namespace carries;
  Modifiers& modifiers = draft.modifiers;
  const bool is_signed = type == Type::s32 || type == Type::s64;
  if (!is_signed && type != Type::u32 && type != Type::u64 && type != Type::b32 && type != Type::b64)
    return nullptr;
  draft.instruction.immediate = (carries_in ? kIn : 0) | (carries_out ? kOut : 0);
  const std::string& name = modifiers.name();
  if (name == "add" || name == "addc") return for_width<Operation::add>(type);
  if (name == "sub" || name == "subc") return for_width<Operation::subtract>(type);
  if (name != "mad" && name != "madc") return nullptr;
  if (modifiers.take("lo")) return for_width<Operation::multiply_low>(type);
  if (!modifiers.take("hi")) return nullptr;
  if (type == Type::s32) return &execute_signed_high<std::int32_t>;
  if (type == Type::s64) return &execute_signed_high<std::int64_t>;
  return for_width<Operation::multiply_high>(type);
}

static Handler select_carry(Draft& draft) {
  const Type type = draft.modifiers.take_type();
  const bool carries_out = draft.modifiers.take("cc");
  return integer_with_carry(draft, type, /*carries_in=*/true, carries_out);
}

std::vector<OpcodeRow> opcodes_of_carries() {
  return {
      {{"addc", "subc"}, {&select_carry, 3, 3, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"madc", {&select_carry, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
