#include "watch/value_flow.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "numbers/matrix_product.h"
#include "ptx/modifiers.h"
#include "ptx/opcode.h"

namespace opgate::simulator {
namespace value_flow {

using Kind = ValueFlow::Kind;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool moves_bits(std::string_view name) {
  return is_one_of(name, {"mov", "and", "or", "xor", "not", "selp", "shl", "shr", "bfe", "bfi", "szext",
                          "brev", "prmt", "shf", "lop3"});
}

bool is_pair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::u16x2 || type == Type::s16x2;
}

bool is_packed(Type type) { return is_pair(type) || type == Type::e4m3x2 || type == Type::e5m2x2; }

// cvt.to.from
void decide_conversion(ValueFlow& flow, Modifiers& words) {
  constexpr int kSourcesOfPack = 2;
  const bool saturates = words.has("sat");
  const Type to = words.take_type();
  const Type from = words.take_type();
  if (is_packed(to) && flow.total >= flow.results + kSourcesOfPack) {
    flow.kind = Kind::pack;
    flow.bits = static_cast<std::uint8_t>(4 * bytes_of(to));
  } else if (is_integer(as_number(to)) && is_integer(as_number(from)) && !saturates) {
    flow.kind = Kind::bits;
  }
}

// The type of the factors, which follows that of the sums.
void decide_product(ValueFlow& flow, Modifiers& words) {
  const Type sums = words.take_type();
  flow.kind = sums == Type::s32 ? Kind::integer_product : Kind::product;
  flow.bits = static_cast<std::uint8_t>(bits_of_element(sums));
}

// Numbers of floating point times 0 may be NaN.
void decide_multiplication(ValueFlow& flow, const std::string& name, Type type) {
  if (!is_integer(type)) return;
  flow.kind = Kind::factors;
  flow.bits = static_cast<std::uint8_t>(name.ends_with("24") ? 24 : 8 * bytes_of(type));
}

void decide_kind(ValueFlow& flow, Modifiers& words) {
  const std::string& name = words.name();
  if (name == "setp" || name == "testp" || name == "isspacep" || (name == "vote" && !words.has("ballot")))
    flow.mask = 1;
  if (moves_bits(name)) {
    flow.kind = Kind::bits;
  } else if (name == "cvt") {
    decide_conversion(flow, words);
  } else if (name == "shfl" || name == "movmatrix") {
    flow.kind = Kind::shuffle;
  } else if (name == "mma" || (name == "wmma" && words.has("mma"))) {
    decide_product(flow, words);
  } else if (name != "setp") {
    const Type type = words.take_type();
    if (is_pair(type)) {
      flow.kind = Kind::halves;
    } else if (is_one_of(name, {"mul", "mad", "mul24", "mad24"})) {
      decide_multiplication(flow, name, type);
    }
  }
}

// Loads, stores, and what computes only results, by themselves decide nothing.
bool matters(const Opcode& opcode) {
  return !(opcode.effect == Effect::none || opcode.effect == Effect::remote_address ||
           opcode.effect == Effect::load || opcode.effect == Effect::store ||
           opcode.effect == Effect::load_matrix || opcode.effect == Effect::store_matrix ||
           opcode.effect == Effect::fragment || opcode.effect == Effect::product);
}

ValueFlow flow_of(const Instruction& instruction, const OperandForm& form) {
  ValueFlow flow;
  flow.total = form.total;
  if (form.opcode == nullptr) {
    // `brx.idx` has no result; what is inserted in front of an instruction has one.
    flow.results = form.first;
    flow.matters = form.first == 0;
    return flow;
  }
  Modifiers words(*instruction.text);
  const Opcode& opcode = *form.opcode;
  const Waits waits = opcode.waits_with(words);
  flow.results = opcode.has_result(words) ? form.first : 0;
  flow.reads_results = opcode.reads_result();
  flow.meets = waits == Waits::for_lanes || waits == Waits::for_warp;
  flow.matters = matters(opcode) || (waits == Waits::otherwise && opcode.effect == Effect::none);
  if (opcode.effect == Effect::load) {
    Modifiers of_load(*instruction.text);
    of_load.take_lanes();
    flow.is_signed = is_signed(of_load.take_type());
  } else {
    decide_kind(flow, words);
  }
  return flow;
}

}  // namespace value_flow

std::vector<ValueFlow> flows_of(const Program& program) {
  std::vector<ValueFlow> flows;
  for (const auto& function : program.functions) {
    for (std::size_t i = 0; i < function->code.size(); ++i)
      flows.push_back(value_flow::flow_of(function->code[i], function->forms[i]));
  }
  return flows;
}

}  // namespace opgate::simulator
