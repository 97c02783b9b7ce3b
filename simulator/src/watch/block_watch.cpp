#include "watch/block_watch.h"

#include <utility>

#include "instructions/wmma.h"
#include "machine/block.h"
#include "machine/faults.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {

void BlockWatch::begin(const Extent& index, std::size_t shared_bytes) {
  async_ = {};
  cluster_ = launch_.join_cluster(*this, index);
  emit(&BlockTool::begin, index, shared_bytes);
}

void BlockWatch::follow(Thread& thread, const Instruction& instruction) {
  for (const auto& tool : tools_) {
    if (tool->follow(thread, instruction)) return;
  }
  if (thread.leaves_out(instruction)) return;
  if (instruction.annotation != nullptr) {
    execute(thread, instruction);
  } else {
    instruction.execute(thread, instruction);
  }
}

void BlockWatch::execute(Thread& thread, const Instruction& instruction) {
  using Kind = Annotation::Kind;
  const Annotation& annotation = *instruction.annotation;
  if (annotation.names_product_register) emit(&BlockTool::use_registers, thread, instruction);
  switch (annotation.kind) {
    case Kind::load:
    case Kind::store:
    case Kind::atomic:
    case Kind::reduction:
      if (annotation.is_fragment) {
        access_fragment(thread, instruction);
      } else if (thread.lane < annotation.rows) {
        const std::uint64_t address = address_in(thread, instruction, annotation.operand);
        access(thread, instruction, access_to(thread, annotation, address));
      }
      break;
    case Kind::copy:
      begin_copy(thread, instruction);
      return;
    case Kind::bulk_load:
    case Kind::bulk_store:
      begin_bulk_copy(thread, instruction);
      return;
    case Kind::tensor_load:
    case Kind::tensor_store:
      begin_tensor_copy(thread, instruction);
      return;
    case Kind::copy_wait:
      instruction.execute(thread, instruction);
      emit(&BlockTool::complete_by_wait, thread);
      settle_copies(thread);
      return;
    case Kind::promise:
    case Kind::mbarrier:
    case Kind::mbarrier_look:
      use_mbarrier(thread, instruction);
      return;
    case Kind::product:
      begin_product(thread, instruction);
      break;
    case Kind::product_fence:
      emit(&BlockTool::fence_registers, thread);
      break;
    case Kind::product_commit:
      ++async_.products[&thread].groups;
      break;
    case Kind::product_wait:
      wait_for_products(thread, instruction);
      break;
    case Kind::grid_wait:
      emit(&BlockTool::wait_for_grids, thread);
      break;
    case Kind::grid_trigger:
      emit(&BlockTool::launch_dependents, thread);
      break;
    case Kind::proxy_fence:
      emit(&BlockTool::proxy_fence, thread);
      break;
    case Kind::fence:
      emit(&BlockTool::fence, thread, annotation);
      break;
    case Kind::arrive:
      emit(&BlockTool::arrive, thread, read<std::uint32_t>(thread, instruction, 0));
      break;
    case Kind::cluster_arrive:
      instruction.execute(thread, instruction);
      emit(&BlockTool::arrive_in_cluster, thread, annotation);
      return;
    case Kind::cluster_wait:
      instruction.execute(thread, instruction);
      if (thread.state != Thread::State::at_cluster) leave_cluster_barrier(thread);
      return;
    case Kind::call:
      call(thread, instruction);
      return;
    case Kind::host_call:
      emit(&BlockTool::begin_host_call, thread, instruction);
      instruction.execute(thread, instruction);
      emit(&BlockTool::end_host_call, thread, instruction);
      return;
    case Kind::leave_function:
    case Kind::leave_kernel:
      leave(thread, instruction);
      return;
    case Kind::multicast_load:
    case Kind::unknown:
      fail(instruction, Fault::unsupported, " while tools watch (OPGATE_SIM_TOOLS)");
    case Kind::none:
    case Kind::ignored:
    case Kind::tensor_map:
    case Kind::remote_address:
    case Kind::sleep:
    case Kind::branch:
    case Kind::barrier:
    case Kind::warp_barrier:
      break;
  }
  instruction.execute(thread, instruction);
}

void BlockWatch::access(Thread& thread, const Instruction& instruction, const WatchedAccess& access) {
  if (access.space == Space::parameter) return;
  // A fault of the kernel.
  if ((access.address & (access.annotation->bytes - 1u)) != 0) return;
  const BlockWatch* const owner = owner_of(thread, access);
  if (owner == nullptr) return;
  for (std::size_t i = 0; i < tools_.size(); ++i)
    tools_[i]->access(thread, instruction, access, *owner->tools_[i]);
}

void BlockWatch::access_fragment(Thread& thread, const Instruction& instruction) {
  const bool is_load = instruction.annotation->kind == Annotation::Kind::load;
  Annotation how = *instruction.annotation;
  for_each_element_of_wmma(thread, is_load, [&](unsigned number, std::uint64_t address, unsigned bytes) {
    how.bytes = static_cast<std::uint8_t>(bytes);
    WatchedAccess element = access_to(thread, how, address);
    element.element = number;
    access(thread, instruction, element);
  });
  emit(&BlockTool::end_fragment, thread, instruction);
}

void BlockWatch::call(Thread& thread, const Instruction& instruction) {
  const FramePlace caller = FramePlace::of(thread);
  const Call& call = thread.function().calls[static_cast<std::size_t>(instruction.immediate)];
  instruction.execute(thread, instruction);
  emit(&BlockTool::call, thread, call, caller);
}

void BlockWatch::leave(Thread& thread, const Instruction& instruction) {
  const FramePlace called = FramePlace::of(thread);
  const Function& function = thread.function();
  instruction.execute(thread, instruction);
  if (thread.state == Thread::State::exited) {
    exit(thread);
  } else {
    emit(&BlockTool::return_from, thread, function, called);
  }
}

// Copies that nothing has waited for happen at the end.
void BlockWatch::exit(Thread& thread) {
  emit(&BlockTool::complete_by_wait, thread);
  settle_copies(thread);
  emit(&BlockTool::exit, thread);
  if (++async_.exited < launch_.launch().launch.block.count()) return;
  cluster_->blocks[thread.block->rank()] = nullptr;
  for (WatchedPromise& promise : std::exchange(async_.promises, {})) keep(promise);
}

const BlockWatch* BlockWatch::block_of_rank(const Thread& thread, std::uint32_t rank) const {
  return thread.block->cluster().block(rank) == nullptr ? nullptr : cluster_->blocks[rank];
}

BlockTool* BlockWatch::same_tool_of_owner(const BlockTool& tool, const Thread& thread,
                                          const WatchedAccess& access) const {
  const BlockWatch* const owner = owner_of(thread, access);
  if (owner == nullptr) return nullptr;
  std::size_t at = 0;
  while (tools_[at].get() != &tool) ++at;
  return owner->tools_[at].get();
}

std::uint64_t place_in_own_block(const Thread& thread, const Instruction& instruction,
                                 std::uint64_t address) {
  const std::uint64_t rank = (address & 0xffffffffu) >> kRankAt;
  if (rank != 0 && rank != thread.block->rank() + 1)
    fail(instruction, Fault::unsupported,
         " in another block of the cluster while tools watch (OPGATE_SIM_TOOLS)");
  return address & kOffsetInBlock;
}

}  // namespace opgate::simulator
