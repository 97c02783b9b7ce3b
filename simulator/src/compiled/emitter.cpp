#include "compiled/emitter.h"

#include <charconv>

namespace opgate::simulator {
namespace emission {

// How a register is used.
constexpr unsigned kAsSingle = 1;
constexpr unsigned kAsDouble = 2;
constexpr unsigned kAs32Bits = 4;
constexpr unsigned kAs64Bits = 8;
constexpr unsigned kAsInteger = 16;
/// Written with bits that may be those of any NaN.
constexpr unsigned kTakesBits = 32;
// A function that saves and restores registers in more lines keeps them in memory. The C compiler would take
// minutes and gigabytes: at each of the many places where a warp meets, hundreds of registers matter.
constexpr std::size_t kMostMoves = 100'000;
constexpr unsigned kOfTypes = kAsSingle | kAsDouble | kAs32Bits | kAs64Bits | kAsInteger;

std::string in_brackets(const char* array, Slot slot) {
  return std::string(array) + "[" + std::to_string(slot) + "]";
}

}  // namespace emission

std::string unsigned_number(std::uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, 16).ptr;
  return "0x" + std::string(digits, end) + "ull";
}

std::string name_in_c(Type type) {
  const bool is_float = type == Type::f32 || type == Type::f64;
  return (is_float ? "f" : is_signed(type) ? "s" : "u") + std::to_string(8 * bytes_of(type));
}

Emitter::Emitter(const Program& program, std::size_t function, const std::vector<Roles>& roles)
    : program_(program),
      function_(*program.functions[function]),
      number_(function),
      is_kernel_(function == 0),
      kinds_(function_.initial.size(), Kind::constant),
      uses_(function_.initial.size()),
      inexact_(function_.initial.size()) {
  const auto set_kind = [&](Slot slot, Kind kind) { kinds_[static_cast<std::size_t>(slot)] = kind; };
  for (const VariableSlot& variable : program.variable_slots) {
    if (variable.function == function) set_kind(variable.slot, Kind::loaded_constant);
  }
  for (const FrameValue& value : function_.frame_values) set_kind(value.slot, Kind::general);
  for (const Argument& argument : function_.arguments) {
    if (argument.in_register) set_kind(argument.slot, Kind::general);
  }
  for (const Roles& instruction : roles) {
    for (const Slot slot : instruction.writes) set_kind(slot, Kind::general);
  }
}

void Emitter::note(Slot slot, Type type) {
  using namespace emission;
  uses_[static_cast<std::size_t>(slot)] |= type == Type::f32   ? kAsSingle
                                           : type == Type::f64 ? kAsDouble
                                           : type == Type::b32 ? kAs32Bits
                                           : type == Type::b64 ? kAs64Bits
                                                               : kAsInteger;
}

void Emitter::start_over() {
  using namespace emission;
  text_.clear();
  is_in_memory_ = moves_ > kMostMoves;
  if (is_in_memory_) return;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != Kind::general) continue;
    const unsigned types = uses_[i] & kOfTypes;
    if ((types & ~kAs32Bits) == kAsSingle) kinds_[i] = Kind::single;
    if ((types & ~kAs64Bits) == kAsDouble) kinds_[i] = Kind::twofold;
  }
  for (const FrameValue& value : function_.frame_values)
    kinds_[static_cast<std::size_t>(value.slot)] = Kind::general;
  find_inexact();
}

bool Emitter::may_be_inexact(Slot slot) const {
  if (!is_constant(slot)) return inexact_[static_cast<std::size_t>(slot)];
  const std::uint64_t magnitude = constant(slot) & 0x7fffffffu;
  return magnitude <= 0x7f800000u;
}

// A copy of such a variable may be one, too.
void Emitter::find_inexact() {
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    inexact_[i] = kinds_[i] == Kind::single && (uses_[i] & emission::kTakesBits) == 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Copy& copy : copies_) {
      const auto to = static_cast<std::size_t>(copy.to);
      if (!inexact_[to] || may_be_inexact(copy.from)) continue;
      inexact_[to] = false;
      changed = true;
    }
  }
}

std::string Emitter::variable(Slot slot) const {
  switch (kinds_[static_cast<std::size_t>(slot)]) {
    case Kind::constant:
      return unsigned_number(constant(slot));
    case Kind::loaded_constant:
      return emission::in_brackets("initial", slot);
    case Kind::general:
      return is_in_memory_ ? emission::in_brackets("R", slot) : "r" + std::to_string(slot);
    case Kind::single:
      return "x" + std::to_string(slot);
    case Kind::twofold:
      return "y" + std::to_string(slot);
  }
  return {};
}

std::string Emitter::bits_of(Slot slot) const {
  const Kind kind = kinds_[static_cast<std::size_t>(slot)];
  if (kind == Kind::single && inexact_[static_cast<std::size_t>(slot)])
    return "bits_of_f32(with_one_nan(" + variable(slot) + "))";
  if (kind == Kind::single) return "bits_of_f32(" + variable(slot) + ")";
  if (kind == Kind::twofold) return "bits_of_f64(" + variable(slot) + ")";
  return variable(slot);
}

std::string Emitter::get(Slot slot, Type type) {
  note(slot, type);
  const Kind kind = kinds_[static_cast<std::size_t>(slot)];
  if (type == Type::f32) return kind == Kind::single ? variable(slot) : "f32_of((u32)" + bits_of(slot) + ")";
  if (type == Type::f64) return kind == Kind::twofold ? variable(slot) : "f64_of(" + bits_of(slot) + ")";
  if (type == Type::pred) return "(" + bits_of(slot) + " != 0)";
  return "((" + name_in_c(type) + ")" + bits_of(slot) + ")";
}

std::string Emitter::get_exactly(Slot slot) {
  const std::string value = get(slot, Type::f32);
  return inexact_[static_cast<std::size_t>(slot)] ? "with_one_nan(" + value + ")" : value;
}

void Emitter::set_result(Slot slot, const std::string& value) {
  const unsigned uses = uses_[static_cast<std::size_t>(slot)];
  const bool inexact = inexact_[static_cast<std::size_t>(slot)];
  set(slot, Type::f32, inexact ? value : "with_one_nan(" + value + ")");
  uses_[static_cast<std::size_t>(slot)] = uses | emission::kAsSingle;
}

void Emitter::set_choice(Slot slot, Type type, const std::string& condition, Slot a, Slot b) {
  const bool moves_numbers = inexact_[static_cast<std::size_t>(slot)];
  const auto operand = [&](Slot from) {
    if (type == Type::f32) copies_.push_back({slot, from});
    return type == Type::f32 && !moves_numbers ? get_exactly(from) : get(from, type);
  };
  std::string value = operand(a);
  if (!condition.empty()) value = condition + " ? " + value + " : " + operand(b);
  const unsigned uses = uses_[static_cast<std::size_t>(slot)];
  set(slot, type, value);
  if (type == Type::f32) uses_[static_cast<std::size_t>(slot)] = uses | emission::kAsSingle;
}

// Integers are extended to the whole slot by their sign.
void Emitter::set(Slot slot, Type type, const std::string& value) {
  note(slot, type);
  uses_[static_cast<std::size_t>(slot)] |= emission::kTakesBits;
  const Kind kind = kinds_[static_cast<std::size_t>(slot)];
  std::string text = value;
  if (kind == Kind::single) {
    if (type != Type::f32) text = "f32_of((u32)(" + value + "))";
  } else if (kind == Kind::twofold) {
    if (type != Type::f64) text = "f64_of(" + value + ")";
  } else if (type == Type::f32) {
    text = "bits_of_f32(" + value + ")";
  } else if (type == Type::f64) {
    text = "bits_of_f64(" + value + ")";
  } else if (type == Type::pred) {
    text = "(" + value + ") ? 1 : 0";
  } else {
    text = "(u64)(" + name_in_c(type) + ")(" + value + ")";
  }
  line("  " + variable(slot) + " = " + text + ";");
}

void Emitter::save(Slot slot) {
  const Kind kind = kinds_[static_cast<std::size_t>(slot)];
  if (kind == Kind::constant || kind == Kind::loaded_constant || is_in_memory_) return;
  ++moves_;
  line("  " + emission::in_brackets("R", slot) + " = " + bits_of(slot) + ";");
}

void Emitter::restore(Slot slot) {
  if (is_in_memory_) return;
  ++moves_;
  const std::string value = emission::in_brackets("R", slot);
  switch (kinds_[static_cast<std::size_t>(slot)]) {
    case Kind::constant:
    case Kind::loaded_constant:
      break;
    case Kind::general:
      line("  " + variable(slot) + " = " + value + ";");
      break;
    case Kind::single:
      line("  " + variable(slot) + " = f32_of((u32)" + value + ");");
      break;
    case Kind::twofold:
      line("  " + variable(slot) + " = f64_of(" + value + ");");
      break;
  }
}

void Emitter::hand_over(const Source& source) {
  const Roles& roles = source.roles;
  need_registers();
  for (const Slot slot : roles.reads) save(slot);
  line("  c->execute(c, " + std::to_string(source.index) + ", left + " + std::to_string(source.behind) +
       ");");
  for (const Slot slot : roles.writes) {
    note(slot, Type::u64);
    if (!roles.stops) restore(slot);
  }
}

std::vector<Slot> Emitter::all_constants() const {
  std::vector<Slot> all;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] == Kind::constant || kinds_[i] == Kind::loaded_constant)
      all.push_back(static_cast<Slot>(i));
  }
  return all;
}

void Emitter::declare() {
  if (is_in_memory_) return;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const auto slot = static_cast<Slot>(i);
    if (kinds_[i] == Kind::constant || kinds_[i] == Kind::loaded_constant) continue;
    const char* const type = kinds_[i] == Kind::single    ? "  f32 "
                             : kinds_[i] == Kind::twofold ? "  f64 "
                                                          : "  u64 ";
    line(type + variable(slot) + " = 0;");
  }
}

void Emitter::need_registers() {
  if (is_kernel_ && !is_in_memory_) line("  if (R == 0) R = c->begin(c);");
}

void Emitter::begin_thread(const std::vector<Slot>& live) {
  using Value = FrameValue::Kind;
  if (is_in_memory_) line("  if (R == 0) R = c->begin(c);");
  // A register that is read before it is written holds 0.
  for (const Slot slot : live) {
    if (!is_constant(slot) && kinds_[static_cast<std::size_t>(slot)] != Kind::loaded_constant)
      line("  " + variable(slot) + " = 0;");
  }
  for (std::size_t i = 0; i < function_.frame_values.size(); ++i) {
    const FrameValue& value = function_.frame_values[i];
    const std::string lane = "(u32)c->linear_index % 32";
    const std::string self = "(1u << " + lane + ")";
    std::string text = "c->frame_values[" + std::to_string(i) + "]";
    if (value.kind == Value::thread_index) text = "c->thread_index[" + std::to_string(value.value) + "]";
    if (value.kind == Value::lane) text = lane;
    if (value.kind == Value::warp) text = "c->linear_index / 32";
    if (value.kind == Value::lane_mask_equal) text = self;
    if (value.kind == Value::lane_mask_less) text = self + " - 1";
    if (value.kind == Value::lane_mask_less_or_equal) text = self + " | (" + self + " - 1)";
    if (value.kind == Value::lane_mask_greater) text = "~(" + self + " | (" + self + " - 1))";
    if (value.kind == Value::lane_mask_greater_or_equal) text = "~(" + self + " - 1)";
    line("  " + variable(value.slot) + " = " + text + ";");
  }
}

}  // namespace opgate::simulator
