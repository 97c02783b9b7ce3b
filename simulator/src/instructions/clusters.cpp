// Clusters of blocks: addresses in the shared memory of another block, and the barrier of the cluster.
#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/cluster.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace clusters {

// mapa d, address, rank
template <bool is_generic>
void map_address(Thread& thread, const Instruction& in) {
  const auto address = read<std::uint64_t>(thread, in, 1);
  const auto rank = read<std::uint32_t>(thread, in, 2);
  const std::size_t size = thread.block->cluster().size();
  if (rank >= size)
    fail(in, Fault::trap,
         " of the block " + std::to_string(rank) + " of a cluster of " + std::to_string(size));
  if (is_generic && space_of(address) != Space::shared)
    fail(in, Fault::trap, " of " + hexadecimal(address) + ", which is not in shared memory");
  write(thread, in, 0, address_in_block(address, rank) + (is_generic ? kSharedWindow : 0));
}

// getctarank d, address
void rank_of_address(Thread& thread, const Instruction& in) {
  const std::uint64_t rank = (read<std::uint64_t>(thread, in, 1) & 0xffffffffu) >> kRankAt;
  write(thread, in, 0, rank == 0 ? static_cast<std::uint32_t>(thread.block->rank()) : rank - 1);
}

void arrive(Thread& thread, const Instruction& in) {
  if (thread.cluster_phase != 0) fail(in, Fault::trap, " of a thread that has arrived and not waited");
  thread.cluster_phase = thread.block->cluster().phase();
  thread.block->cluster().arrive();
}

void wait(Thread& thread, const Instruction& in) {
  if (thread.cluster_phase == 0) fail(in, Fault::trap, " of a thread that has not arrived");
  thread.state = Thread::State::at_cluster;
  thread.leave_cluster_barrier_if_complete();
}

}  // namespace clusters

static Handler select_mapa(Draft& draft) {
  const bool is_generic = !draft.modifiers.take("shared::cluster");
  const Type type = draft.modifiers.take_type();
  if (type != Type::u32 && type != Type::u64) return nullptr;
  return is_generic ? &clusters::map_address<true> : &clusters::map_address<false>;
}

static Handler select_rank(Draft& draft) {
  draft.modifiers.take("shared::cluster");
  const Type type = draft.modifiers.take_type();
  return type == Type::u32 || type == Type::u64 ? &clusters::rank_of_address : nullptr;
}

Handler select_cluster_barrier(Draft& draft) {
  draft.modifiers.take("aligned");
  draft.modifiers.take_hints();
  if (!draft.operands.empty()) return nullptr;
  if (draft.modifiers.take("arrive")) return &clusters::arrive;
  return draft.modifiers.take("wait") ? &clusters::wait : nullptr;
}

std::vector<OpcodeRow> opcodes_of_clusters() {
  return {
      {"mapa",
       {&select_mapa, 3, 3, Result::first, Waits::never, &effect_of<Effect::Kind::remote_address>,
        &flow_of_number}},
      {"getctarank", {&select_rank, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
