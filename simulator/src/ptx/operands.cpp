#include "ptx/operands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>

namespace opgate::simulator {
namespace operands {

// The part of a register that a name ends with.
std::string_view part_in(std::string_view name) {
  constexpr std::array<std::string_view, 6> kParts{"b0", "b1", "b2", "b3", "h0", "h1"};
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view last = name.substr(dot + 1);
  return std::find(kParts.begin(), kParts.end(), last) == kParts.end() ? std::string_view() : last;
}

}  // namespace operands

Token OperandReader::next() {
  const Token token = peek();
  if (token.at_end()) throw ParseError(token.line, "an operand is missing");
  ++at_;
  return token;
}

bool OperandReader::accept(std::string_view text) {
  if (!peek().is(text)) return false;
  ++at_;
  return true;
}

void OperandReader::expect(std::string_view text) {
  if (accept(text)) return;
  const Token found = peek();
  throw ParseError(found.line,
                   "expected `" + std::string(text) + "`, but found " +
                       (found.at_end() ? "the end of the instruction" : "`" + std::string(found.text) + "`"));
}

std::vector<Operand> OperandReader::read_all() {
  std::vector<Operand> operands;
  if (peek().at_end()) return operands;
  do operands.push_back(read_one());
  while (accept(","));
  if (!peek().at_end())
    throw ParseError(peek().line, "expected `;` instead of `" + std::string(peek().text) + "`");
  return operands;
}

Operand OperandReader::read_one() {
  if (accept("[")) return read_address();
  Operand operand;
  if (const std::vector<Slot>* const elements = names_.elements_of(peek())) {
    ++at_;
    operand.kind = Operand::Kind::vector;
    operand.slots = *elements;
    return operand;
  }
  if (accept("{")) {
    operand.kind = Operand::Kind::vector;
    do operand.slots.push_back(read_value());
    while (accept(","));
    expect("}");
    return operand;
  }
  operand.slots.push_back(read_value());
  operand.is_predicate = is_predicate_;
  operand.part = part_;
  if (accept("|")) {
    operand.kind = Operand::Kind::pair;
    operand.slots.push_back(read_value());
  }
  return operand;
}

Operand OperandReader::read_address() {
  Operand operand;
  operand.kind = Operand::Kind::address;
  const Token base = next();
  if (const auto absolute = number(base.text)) {
    operand.slots.push_back(names_.constant(*absolute));
  } else {
    Named& named = names_.find(base);
    operand.names_local = named.kind == Named::Kind::local;
    operand.slots.push_back(names_.slot_of(named, base));
  }
  while (!accept("]")) {
    if (accept(",")) {
      read_coordinates(operand);
      continue;
    }
    const bool minus = accept("-");
    if (!minus) expect("+");
    const bool negative = accept("-") != minus;
    const auto offset = static_cast<std::int64_t>(integer(next()));
    operand.offset += negative ? -offset : offset;
  }
  return operand;
}

// [map, {x, y}]
void OperandReader::read_coordinates(Operand& operand) {
  expect("{");
  do operand.slots.push_back(read_value());
  while (accept(","));
  expect("}");
}

// A decimal number with a point has the type of the instruction.
std::uint64_t OperandReader::read_number(const Token& token, bool negative) const {
  if (const auto value = number(token.text)) return negative ? 0 - *value : *value;
  double value = 0;
  const char* const end = token.text.data() + token.text.size();
  if (token.text.find('.') == std::string_view::npos ||
      std::from_chars(token.text.data(), end, value).ptr != end)
    throw ParseError(token.line, "`" + std::string(token.text) + "` is not a number");
  if (negative) value = -value;
  if (opcode_.ends_with(".f64")) return std::bit_cast<std::uint64_t>(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

Slot OperandReader::read_value() {
  if (accept("!")) return inverted(read_name(next()));
  is_predicate_ = false;
  part_ = {};
  const bool negative = accept("-");
  const Token token = next();
  const bool is_number = token.text.front() >= '0' && token.text.front() <= '9';
  if (is_number) return names_.constant(read_number(token, negative));
  if (negative) throw ParseError(token.line, "`-` in front of `" + std::string(token.text) + "`");
  return read_name(token);
}

Slot OperandReader::read_name(const Token& name) {
  if (name.is("_")) return names_.nowhere();
  part_ = operands::part_in(name.text);
  Token whole = name;
  if (!part_.empty()) whole.text.remove_suffix(part_.size() + 1);
  Named& named = names_.find(whole);
  is_predicate_ = named.is_predicate;
  if (named.kind == Named::Kind::clock) return computed(instructions_.clock, names_.nowhere());
  std::uint64_t addend = 0;
  if (accept("+")) addend = integer(next());
  return names_.slot_of(named, whole, addend);
}

Slot OperandReader::inverted(Slot predicate) { return computed(instructions_.not_predicate, predicate); }

Slot OperandReader::computed(Handler handler, Slot source) {
  Instruction instruction;
  instruction.execute = handler;
  instruction.slots[0] = names_.fresh();
  instruction.slots[1] = source;
  insert_.push_back(instruction);
  return instruction.slots[0];
}

}  // namespace opgate::simulator
