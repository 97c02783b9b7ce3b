#include "ptx/opcode.h"

namespace opgate::simulator {
namespace opcode {

bool mbarrier_has_result(const Modifiers& words) {
  if (words.has("arrive") || words.has("arrive_drop")) return true;
  return !words.has("expect_tx") && !words.has("complete_tx") && !words.has("init") && !words.has("inval");
}

}  // namespace opcode

bool Opcode::has_result(const Modifiers& words) const {
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
      return opcode::mbarrier_has_result(words);
  }
  return false;
}

Waits Opcode::waits_with(const Modifiers& words) const {
  if (waits == Waits::for_lanes && !words.has("sync")) return Waits::otherwise;
  if (waits != Waits::if_it_looks) return waits;
  return words.has("test_wait") || words.has("try_wait") ? Waits::otherwise : Waits::never;
}

}  // namespace opgate::simulator
