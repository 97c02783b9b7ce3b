// The scalar video instructions: arithmetic of parts of registers in more than 32 bits, with a second
// operation after it. vmad is not simulated.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace video {

enum class Operation : std::uint8_t { add, subtract, difference, minimum, maximum, left, right, compare };
enum class Second : std::uint8_t { none, add, minimum, maximum, merge };
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };

/// Bits of a register, from the lowest one that belongs to it.
struct Part {
  std::uint8_t first : 5 = 0;
  std::uint8_t is_narrow : 1 = 0;
  std::uint8_t is_byte : 1 = 0;
  std::uint8_t is_signed : 1 = 0;

  unsigned bits() const { return is_byte != 0 ? 8 : is_narrow != 0 ? 16 : 32; }
};

/// It fits into the immediate.
struct Form {
  Operation operation = Operation::add;
  Second second = Second::none;
  Comparison comparison = Comparison::eq;
  bool saturates = false;
  bool wraps = false;  ///< a shift: by the remainder by 32
  Part d;
  Part a;
  Part b;
};

std::int64_t value_of(std::uint32_t whole, const Part& part) {
  const unsigned above = 64 - part.bits();
  const std::uint64_t bits = std::uint64_t{whole} >> part.first << above;
  return part.is_signed != 0 ? static_cast<std::int64_t>(bits) >> above
                             : static_cast<std::int64_t>(bits >> above);
}

bool holds(Comparison comparison, std::int64_t a, std::int64_t b) {
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    case Comparison::ge:
      return a >= b;
  }
  return false;
}

// A number shifted to the left may need 65 bits.
__int128 result_of(const Form& form, std::int64_t a, std::int64_t b) {
  const auto by = static_cast<int>(form.wraps ? b & 31 : std::min<std::int64_t>(b, 32));
  switch (form.operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::difference:
      return std::abs(a - b);
    case Operation::minimum:
      return std::min(a, b);
    case Operation::maximum:
      return std::max(a, b);
    case Operation::left:
      return static_cast<__int128>(a) * (std::int64_t{1} << by);
    case Operation::right:
      return a >> by;
    case Operation::compare:
      return holds(form.comparison, a, b) ? 1 : 0;
  }
  return 0;
}

std::uint32_t nearest(__int128 value, const Part& part) {
  const __int128 most = (__int128{1} << (part.bits() - part.is_signed)) - 1;
  const __int128 least = part.is_signed != 0 ? -most - 1 : 0;
  return static_cast<std::uint32_t>(std::clamp(value, least, most));
}

std::uint32_t combined(const Form& form, std::uint32_t result, std::uint32_t c) {
  const Part whole{.is_signed = form.d.is_signed};
  const std::int64_t a = value_of(result, whole);
  const std::int64_t b = value_of(c, whole);
  switch (form.second) {
    case Second::none:
      return result;
    case Second::add:
      return result + c;
    case Second::minimum:
      return static_cast<std::uint32_t>(std::min(a, b));
    case Second::maximum:
      return static_cast<std::uint32_t>(std::max(a, b));
    case Second::merge:
      break;
  }
  const std::uint32_t mask = (form.d.bits() == 8 ? 0xffu : 0xffffu) << form.d.first;
  return (c & ~mask) | (result << form.d.first & mask);
}

// d, a, b, and perhaps c
void execute(Thread& thread, const Instruction& in) {
  const auto form = std::bit_cast<Form>(in.immediate);
  const __int128 wide = result_of(form, value_of(read<std::uint32_t>(thread, in, 1), form.a),
                                  value_of(read<std::uint32_t>(thread, in, 2), form.b));
  const std::uint32_t result = form.saturates ? nearest(wide, form.d) : static_cast<std::uint32_t>(wide);
  const std::uint32_t c = form.second == Second::none ? 0 : read<std::uint32_t>(thread, in, 3);
  write(thread, in, 0, combined(form, result, c));
}

Part take_part(Draft& draft, std::size_t operand, bool is_signed) {
  Part part;
  const std::string_view name = draft.take_part(operand);
  part.is_signed = is_signed ? 1 : 0;
  if (name.empty()) return part;
  const bool is_byte = name.front() == 'b';
  part.is_narrow = 1;
  part.is_byte = is_byte ? 1 : 0;
  part.first = static_cast<std::uint8_t>((name.back() - '0') * (is_byte ? 8 : 16)) & 31;
  return part;
}

std::optional<bool> take_sign(Modifiers& modifiers) {
  const Type type = modifiers.take_type();
  if (type != Type::u32 && type != Type::s32) return std::nullopt;
  return type == Type::s32;
}

bool take_words(Modifiers& modifiers, Form& form) {
  const bool shifts = form.operation == Operation::left || form.operation == Operation::right;
  if (const std::optional<int> second = modifiers.take_one({"add", "min", "max"}))
    form.second = static_cast<Second>(*second + 1);
  form.saturates = modifiers.take("sat");
  form.wraps = shifts && modifiers.take("wrap");
  if (shifts && !form.wraps && !modifiers.take("clamp")) return false;
  if (form.operation != Operation::compare) return true;
  const std::optional<int> comparison = modifiers.take_one({"eq", "ne", "lt", "le", "gt", "ge"});
  form.comparison = static_cast<Comparison>(comparison.value_or(0));
  return comparison.has_value();
}

Operation operation_of(const std::string& name) {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 8> kNames{"vadd", "vsub", "vabsdiff", "vmin",
                                                   "vmax", "vshl", "vshr",     "vset"};
  return static_cast<Operation>(std::ranges::find(kNames, name) - kNames.begin());
}

Handler select(Draft& draft) {
  Form form;
  Modifiers& modifiers = draft.modifiers;
  const Operation operation = operation_of(modifiers.name());
  form.operation = operation;
  const std::optional<bool> of_d = operation == Operation::compare ? false : take_sign(modifiers);
  const std::optional<bool> of_a = take_sign(modifiers);
  const std::optional<bool> of_b = take_sign(modifiers);
  if (!of_d || !of_a || !of_b || !take_words(modifiers, form)) return nullptr;
  // ptxas compares results without a sign otherwise than the manual of PTX says.
  const bool compares = form.second == Second::minimum || form.second == Second::maximum;
  if (compares && !*of_d) return nullptr;
  form.d = take_part(draft, 0, *of_d);
  form.a = take_part(draft, 1, *of_a);
  form.b = take_part(draft, 2, *of_b);
  if (form.d.is_narrow != 0) {
    if (form.second != Second::none) return nullptr;
    form.second = Second::merge;
  }
  if (draft.operands.size() != (form.second == Second::none ? 3 : 4)) return nullptr;
  draft.instruction.immediate = std::bit_cast<std::int64_t>(form);
  return &execute;
}

}  // namespace video

std::vector<OpcodeRow> opcodes_of_video() {
  return {
      {{"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"},
       {&video::select, 3, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
