#include "ptx/operand_form.h"

namespace opgate::simulator {
namespace operand_form {

bool mbarrier_has_result(const Modifiers& words) {
  if (words.has("arrive") || words.has("arrive_drop")) return true;
  return !words.has("expect_tx") && !words.has("complete_tx") && !words.has("init") && !words.has("inval");
}

bool has_result(Result result, const Modifiers& words) {
  switch (result) {
    case Result::none:
      return false;
    case Result::first:
      return true;
    case Result::of_reduction:
      return words.has("red");
    case Result::unless_stored:
      return !words.has("store");
    case Result::of_products:
      return words.has("mma_async");
    case Result::of_mbarrier:
      return mbarrier_has_result(words);
  }
  return false;
}

Waits waits_of(Waits waits, const Modifiers& words) {
  if (waits == Waits::for_lanes && !words.has("sync")) return Waits::otherwise;
  if (waits != Waits::if_it_looks) return waits;
  return words.has("test_wait") || words.has("try_wait") ? Waits::otherwise : Waits::never;
}

// Loads, stores, and what computes only results, by themselves decide nothing.
bool sources_matter(const OperandForm& form) {
  switch (form.effect.kind) {
    case Effect::Kind::none:
      return form.waits == Waits::otherwise;
    case Effect::Kind::remote_address:
    case Effect::Kind::load:
    case Effect::Kind::store:
    case Effect::Kind::product:
    case Effect::Kind::product_fence:
    case Effect::Kind::product_commit:
    case Effect::Kind::product_wait:
      return false;
    default:
      return true;
  }
}

}  // namespace operand_form

void describe(OperandForm& form, const Opcode& opcode, std::string_view text, bool has_address) {
  const Modifiers words(text);
  form.opcode = &opcode;
  form.results = operand_form::has_result(opcode.result, words) ? form.first : 0;
  form.reads_results = opcode.result == Result::of_products;
  form.waits = operand_form::waits_of(opcode.waits, words);
  form.effect = opcode.effect(words);
  if (has_address && form.effect.kind == Effect::Kind::none) form.effect.kind = Effect::Kind::unknown;
  form.flow = opcode.flow(words);
  form.flow.meets = form.waits == Waits::for_lanes || form.waits == Waits::for_warp;
  form.flow.matters |= operand_form::sources_matter(form);
}

}  // namespace opgate::simulator
