// bar and barrier: where threads of a block wait for each other.
#include <utility>

#include "instructions/collectives.h"
#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/faults.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace synchronisation {

constexpr std::int64_t kHasCount = 1;

Barrier& barrier_of(Thread& thread, std::uint32_t id) {
  if (id >= kBarriers)
    throw KernelFault{Fault::trap, "barrier " + std::to_string(id) + ", of which there are 16"};
  return thread.block->barrier(id);
}

std::optional<unsigned> count_of(const Thread& thread, const Instruction& in, int operand) {
  if ((in.immediate & kHasCount) == 0) return std::nullopt;
  const auto count = read<std::uint32_t>(thread, in, operand);
  if (count == 0 || count % kWarpSize != 0)
    throw KernelFault{Fault::trap,
                      "a barrier for " + std::to_string(count) + " threads, which is not a multiple of 32"};
  return count;
}

template <bool waits>
void meet(Thread& thread, const Instruction& in) {
  barrier_of(thread, read<std::uint32_t>(thread, in, 0)).arrive({&thread, waits}, count_of(thread, in, 1));
}

// d, barrier, predicate, count
template <Reduction reduction>
void reduce(Thread& thread, const Instruction& in) {
  const bool value = read<bool>(thread, in, 2);
  barrier_of(thread, read<std::uint32_t>(thread, in, 1))
      .arrive({&thread, true, reduction, value}, count_of(thread, in, 3));
}

// bar.red d, barrier, count, predicate: the count comes last here, where it may be missing.
Handler select_reduction(Draft& draft) {
  const std::optional<int> operation = draft.modifiers.take_one({"popc", "and", "or"});
  const Type type = draft.modifiers.take_type();
  if (draft.operands.size() < 3) return nullptr;
  if (!operation || type != (*operation == 0 ? Type::u32 : Type::pred)) return nullptr;
  if (draft.operands.size() == 4) {
    draft.instruction.immediate = kHasCount;
    std::swap(draft.operands[2], draft.operands[3]);
  }
  if (*operation == 0) return &reduce<Reduction::count>;
  return *operation == 1 ? &reduce<Reduction::all> : &reduce<Reduction::any>;
}

// bar.warp.sync
void sync_warp(Thread* const*, std::uint32_t) {}

void meet_in_warp(Thread& thread, const Instruction& in) {
  wait_in_warp(thread, read<std::uint32_t>(thread, in, 0), &sync_warp);
}

}  // namespace synchronisation

static Handler select_barrier(Draft& draft) {
  using namespace synchronisation;
  Modifiers& modifiers = draft.modifiers;
  if (modifiers.take("cluster")) return select_cluster_barrier(draft);
  if (draft.operands.empty()) return nullptr;
  modifiers.take("aligned");
  modifiers.take("cta");
  if (modifiers.take("warp")) return modifiers.take("sync") ? &meet_in_warp : nullptr;
  if (modifiers.take("red")) return select_reduction(draft);
  if (draft.operands.size() == 2) draft.instruction.immediate = kHasCount;
  if (modifiers.take("sync")) return &meet<true>;
  return modifiers.take("arrive") ? &meet<false> : nullptr;
}

static Effect effect_of_barrier(const Modifiers& words) {
  const bool arrives = words.has("arrive");
  if (words.has("cluster")) {
    const bool releases = !words.has("relaxed");
    return {.kind = arrives ? Effect::Kind::cluster_arrive : Effect::Kind::cluster_wait,
            .releases = releases,
            .makes_visible = arrives && releases};
  }
  return {.kind = words.has("warp") ? Effect::Kind::warp_barrier
                  : arrives         ? Effect::Kind::arrive
                                    : Effect::Kind::barrier,
          .is_aligned = words.name() == "bar" || words.has("aligned")};
}

std::vector<OpcodeRow> opcodes_of_synchronisation() {
  return {
      {"bar",
       {&select_barrier, 1, 4, Result::of_reduction, Waits::otherwise, &effect_of_barrier, &flow_of_number}},
      {"barrier",
       {&select_barrier, 0, 4, Result::of_reduction, Waits::otherwise, &effect_of_barrier, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
