// st.async and red.async: values for the shared memory of a block of the cluster, and their bytes for an
// mbarrier there.
#include <cstring>
#include <utility>

#include "instructions/bulk_copies.h"
#include "instructions/bulk_reductions.h"
#include "instructions/effects.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/mbarrier.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace async_stores {

// [to], values, [mbarrier]. The immediate is the number of a reduction, or 0.
template <std::size_t each, std::size_t lanes>
void send(Thread& thread, const Instruction& in) {
  require_cluster(thread, in);
  constexpr std::size_t kValues = 2;
  constexpr std::size_t kMbarrier = kValues + lanes;
  constexpr std::size_t kBytes = each * lanes;
  const auto value = [&](std::size_t slot) { return thread.registers[in.slot(slot)]; };
  const SharedPlace mbarrier =
      place_of_mbarrier<Space::shared>(thread, in, value(kMbarrier) + value(kMbarrier + 1));
  read_mbarrier(mbarrier, in);
  unsigned char* const to = locate<Space::shared, Access::store>(thread, in, value(0) + value(1), kBytes);
  Promise promise{mbarrier, nullptr, 0, {}, kBytes, std::vector<unsigned char>(kBytes)};
  for (std::size_t lane = 0; lane < lanes; ++lane)
    std::memcpy(promise.values.data() + lane * each, &thread.registers[in.slot(kValues + lane)], each);
  promise.copies = {
      {to, promise.values.data(), kBytes, combine_of_bulk_reduction(static_cast<std::size_t>(in.immediate))}};
  mbarrier.block->promises().add(std::move(promise));
}

template <std::size_t each>
Handler with_lanes(int lanes) {
  if (lanes == 1) return &send<each, 1>;
  if (lanes == 2) return &send<each, 2>;
  return lanes == 4 ? &send<each, 4> : nullptr;
}

}  // namespace async_stores

// They write by another proxy.
Effect effect_of_async_store(const Modifiers& given) {
  Modifiers words = given;
  return {.kind = Effect::Kind::unknown, .space = words.take_space(), .makes_visible = true};
}

Handler select_async_store(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const bool reduces = modifiers.name() == "red";
  if (draft.operands.size() != 3 || !draft.is(0, Operand::Kind::address) ||
      !draft.is(2, Operand::Kind::address) || !modifiers.take("mbarrier::complete_tx::bytes"))
    return nullptr;
  modifiers.take_hints();
  modifiers.take("shared::cluster");
  draft.keeps_immediate = true;
  const int lanes = modifiers.take_lanes();
  const Type type = Modifiers(modifiers).take_type();
  if (reduces ? !take_bulk_reduction(draft, /*in_shared=*/true) : modifiers.take_type() == Type::none)
    return nullptr;
  const std::size_t values = draft.operands[1].slots.size();
  if (values != static_cast<std::size_t>(lanes) || (reduces && lanes != 1)) return nullptr;
  if (bytes_of(type) == 4) return async_stores::with_lanes<4>(lanes);
  return bytes_of(type) == 8 ? async_stores::with_lanes<8>(lanes) : nullptr;
}

}  // namespace opgate::simulator
