#include "instructions/flows.h"

#include "numbers/matrix_product.h"
#include "ptx/types.h"

namespace opgate::simulator {
namespace flows {

bool is_pair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::u16x2 || type == Type::s16x2;
}

bool is_packed(Type type) { return is_pair(type) || type == Type::e4m3x2 || type == Type::e5m2x2; }

ValueFlow of_factors(Modifiers words, std::size_t bits) {
  const Type type = words.take_type();
  if (is_pair(type)) return {.kind = ValueFlow::Kind::halves};
  if (!is_integer(type)) return {};
  return {.kind = ValueFlow::Kind::factors,
          .bits = static_cast<std::uint8_t>(bits != 0 ? bits : 8 * bytes_of(type))};
}

}  // namespace flows

ValueFlow flow_of_number(const Modifiers& given) {
  Modifiers words = given;
  return {.kind = flows::is_pair(words.take_type()) ? ValueFlow::Kind::halves : ValueFlow::Kind::whole};
}

ValueFlow flow_of_bits(const Modifiers&) { return {.kind = ValueFlow::Kind::bits}; }

ValueFlow flow_of_shuffle(const Modifiers&) { return {.kind = ValueFlow::Kind::shuffle}; }

ValueFlow flow_of_multiplication(const Modifiers& words) { return flows::of_factors(words, 0); }

ValueFlow flow_of_24_bits(const Modifiers& words) { return flows::of_factors(words, 24); }

ValueFlow flow_of_condition(const Modifiers&) { return {.mask = 1}; }

ValueFlow flow_of_vote(const Modifiers& words) {
  return words.has("ballot") ? ValueFlow{} : ValueFlow{.mask = 1};
}

ValueFlow flow_of_move(const Modifiers&) { return {.kind = ValueFlow::Kind::bits, .only_moves = true}; }

ValueFlow flow_of_conversion(const Modifiers& given) {
  Modifiers words = given;
  const bool saturates = words.has("sat");
  const Type to = words.take_type();
  const Type from = words.take_type();
  if (flows::is_packed(to))
    return {.kind = ValueFlow::Kind::pack, .bits = static_cast<std::uint8_t>(4 * bytes_of(to))};
  if (!is_integer(as_number(to)) || !is_integer(as_number(from)) || saturates) return {};
  const bool is_shortened =
      words.none_left() && is_integer(to) && is_integer(from) && bytes_of(to) < bytes_of(from);
  return {.kind = ValueFlow::Kind::bits, .only_moves = is_shortened};
}

// The type of the factors follows that of the sums.
ValueFlow flow_of_product(const Modifiers& given) {
  if (given.name() == "wmma" && !given.has("mma")) return flow_of_number(given);
  Modifiers words = given;
  const Type sums = words.take_type();
  return {.kind = sums == Type::s32 ? ValueFlow::Kind::integer_product : ValueFlow::Kind::product,
          .bits = static_cast<std::uint8_t>(bits_of_element(sums))};
}

ValueFlow flow_of_effect(const Modifiers& words) {
  ValueFlow flow = flow_of_number(words);
  flow.matters = true;
  return flow;
}

}  // namespace opgate::simulator
