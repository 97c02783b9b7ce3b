#include "watch/launch_watch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "machine/faults.h"
#include "machine/memory.h"
#include "watch/places.h"

namespace opgate::simulator {
namespace launch_watch {

const char* name_of(Space space) {
  return space == Space::shared ? "shared" : space == Space::local ? "local" : "global";
}

// What the program has to do about a race with a launch before this one.
constexpr const char* kBeginsEarly =
    "; a kernel that is launched with programmatic stream serialization may begin before the one before it "
    "has "
    "ended, and needs griddepcontrol.wait (cudaGridDependencySynchronize) first";

// Whether a store leaves the memory as it is, which holds what was stored there before.
bool stores_the_same(Thread& thread, const Instruction& in, const WatchedAccess& access) {
  if (access.annotation->lanes == 0) return false;
  const HeldCopies::Changed change = change_by(thread, in, access.address, access.space);
  return change.before == change.after;
}

// Whether a compare-and-swap finds another value than it expects. Of 16 bytes, this is not looked at.
bool fails(Thread& thread, const Instruction& in, const Annotation& how, const WatchedAccess& access) {
  constexpr std::size_t kExpected = 2;
  if (how.bytes > sizeof(std::uint64_t)) return false;
  const unsigned char* const old =
      access.space == Space::shared
          ? locate<Space::shared, Access::atomic>(thread, in, access.address, how.bytes)
          : locate<Space::global, Access::atomic>(thread, in, access.address, how.bytes);
  return std::memcmp(old, &thread.registers[in.slot(kExpected)], how.bytes) != 0;
}

/// Hands what happens in a block on to the watch of its launch, with what the tools know of the block.
class WatchedBlock final : public BlockObserver {
 public:
  explicit WatchedBlock(LaunchWatch& launch) : launch_(launch) {}

  void begin(const Extent& index, std::size_t shared_bytes) override {
    launch_.begin_block(block_, index, shared_bytes);
  }
  void execute(Thread& thread, const Instruction& instruction) override {
    launch_.execute(block_, thread, instruction);
  }
  void follow(Thread& thread, const Instruction& instruction) override {
    launch_.follow(block_, thread, instruction);
  }
  void meet(const Barrier& barrier, unsigned id, const std::vector<Thread>& threads) override {
    launch_.meet(block_, barrier, id, threads);
  }
  void leave_cluster_barrier(Thread& thread) override { launch_.leave_cluster_barrier(block_, thread); }
  void meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) override {
    launch_.meet_in_warp(block_, lanes, here, named);
  }

 private:
  LaunchWatch& launch_;
  BlockWatch block_;
};

}  // namespace launch_watch

LaunchWatch::LaunchWatch(const Program& program, const Launch& launch)
    : program_(program),
      launch_(launch),
      tools_(launch.observer->tools()),
      findings_(launch.observer->findings()),
      observer_(*launch.observer),
      loads_(launch.observer->loads()),
      memory_(launch.observer->memory()),
      accessed_(launch.observer->accessed()),
      in_flight_(launch.in_flight != nullptr ? *launch.in_flight : only_this_launch_),
      races_(in_flight_.races()) {
  accessed_.start(program);
  loads_.begin_launch();
  in_flight_.begin(program, launch);
}

LaunchWatch::~LaunchWatch() { in_flight_.end(); }

void LaunchWatch::begin_memory(std::uint64_t address, std::size_t bytes) {
  if (tools_.race) races_.forget(address, bytes);
}

std::unique_ptr<BlockObserver> LaunchWatch::watch_block() {
  return std::make_unique<launch_watch::WatchedBlock>(*this);
}

void LaunchWatch::begin_block(BlockWatch& block, const Extent& index, std::size_t shared_bytes) {
  const std::uint32_t number = in_flight_.begin_block(index);
  const std::size_t threads = launch_.block.count();
  block.async = {};
  block.proxy_fences.start(threads);
  block.cluster_arrivals = 0;
  block.cluster_releases.clear();
  join_cluster(block, index);
  if (tools_.race) block.races.start(number, threads, races_.clusters(), races_.acquisitions());
  if (!tools_.init) return;
  block.shared.start(shared_bytes);
  block.values.assign(threads, {});
  block.local.resize(threads);
  for (WrittenBits& local : block.local) local.start(program_.functions.front()->local_bytes);
}

void LaunchWatch::execute(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  using Kind = Annotation::Kind;
  const Annotation& annotation = *instruction.annotation;
  if (annotation.names_product_register && tools_.sync) use_registers(block, thread, instruction);
  switch (annotation.kind) {
    case Kind::load:
    case Kind::store:
    case Kind::atomic:
    case Kind::reduction:
      if (annotation.is_fragment) {
        access_matrix(block, thread, instruction);
      } else if (thread.lane < annotation.rows) {
        const std::uint64_t address = address_in(thread, instruction, annotation.operand);
        WatchedAccess access = access_to(thread, annotation, address);
        if (thread.is_followed && annotation.kind == Kind::store)
          access.stored = stored_by(block, thread, instruction);
        const Unwritten read = watch_access(block, thread, instruction, access);
        if (read.bits != 0) take_in(block, thread, instruction, read);
      }
      break;
    case Kind::copy:
      begin_copy(block, thread, instruction);
      return;
    case Kind::bulk_load:
    case Kind::bulk_store:
      begin_bulk_copy(block, thread, instruction);
      return;
    case Kind::tensor_load:
    case Kind::tensor_store:
      begin_tensor_copy(block, thread, instruction);
      return;
    case Kind::copy_wait:
      wait_for_copies(block, thread, instruction);
      return;
    case Kind::promise:
    case Kind::mbarrier:
    case Kind::mbarrier_look:
      use_mbarrier(block, thread, instruction);
      return;
    case Kind::product:
      begin_product(block, thread, instruction);
      break;
    case Kind::product_fence:
      block.async.products[&thread].used.clear();
      block.async.products[&thread].has_fence = true;
      break;
    case Kind::product_commit:
      ++block.async.products[&thread].groups;
      break;
    case Kind::product_wait:
      wait_for_products(block, thread, instruction);
      break;
    case Kind::grid_wait:
      if (!tools_.race) break;
      in_flight_.wait(block.races.clocks.block());
      block.races.clocks.acquire_now(thread.linear, in_flight_.awaited(), 1);
      break;
    case Kind::grid_trigger:
      if (tools_.race) in_flight_.trigger(block.races.clocks.block());
      break;
    case Kind::proxy_fence:
      if (tools_.race) block.proxy_fences.add(thread.linear, snapshot(block, thread));
      break;
    case Kind::fence:
      if (tools_.race && annotation.acquires)
        block.races.clocks.acquire_fence(thread.linear, annotation.scope);
      if (tools_.race && annotation.releases)
        block.races.clocks.release_fence(thread.linear, annotation.scope);
      break;
    case Kind::arrive:
      if (tools_.race) block.races.clocks.arrive(thread.linear, read<std::uint32_t>(thread, instruction, 0));
      break;
    case Kind::cluster_arrive:
      arrive_in_cluster(block, thread, instruction);
      return;
    case Kind::cluster_wait:
      instruction.execute(thread, instruction);
      if (thread.state != Thread::State::at_cluster) leave_cluster_barrier(block, thread);
      return;
    case Kind::call:
      call(block, thread, instruction);
      return;
    case Kind::host_call:
      if (tools_.init) use_arguments(block, thread, instruction);
      instruction.execute(thread, instruction);
      if (tools_.init) mark_results(block, thread, instruction);
      return;
    case Kind::leave_function:
    case Kind::leave_kernel:
      leave(block, thread, instruction);
      return;
    case Kind::multicast_load:
    case Kind::unknown:
      throw KernelFault{Fault::unsupported, *instruction.text + " while tools watch (OPGATE_SIM_TOOLS)"};
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

Unwritten LaunchWatch::watch_access(BlockWatch& block, Thread& thread, const Instruction& instruction,
                                    const WatchedAccess& access) {
  const Annotation& how = *access.annotation;
  if (access.space == Space::parameter) return {};
  // A fault of the kernel.
  if ((access.address & (how.bytes - 1u)) != 0) return {};
  BlockWatch* const owner = owner_of(block, thread, access);
  if (owner == nullptr) return {};
  WatchedAccess in_owner = access;
  if (owner != &block) in_owner.owner = &owner->races;
  if (access.space == Space::shared) in_owner.address &= kOffsetInBlock;
  if (tools_.stream && access.space == Space::global)
    accessed_.add(access.address, how.bytes, how.kind != Annotation::Kind::load,
                  how.is_strong && how.scope == Scope::device, how.site);
  if (tools_.race && access.space != Space::local) {
    const auto report = [&](const RaceDetector::Race& race) {
      consider_race(thread, instruction, access, race);
    };
    if (how.is_swap && launch_watch::fails(thread, instruction, how, access)) {
      Annotation only_reads = how;
      only_reads.kind = Annotation::Kind::load;
      in_owner.annotation = &only_reads;
      races_.access(block.races, in_owner, report);
      in_owner.annotation = &how;
    } else {
      races_.access(block.races, in_owner, report);
    }
  }
  return tools_.init ? look_for_unwritten(*owner, thread, in_owner) : Unwritten{};
}

// Local memory grows by that of the function, in which only the arguments are written.
void LaunchWatch::call(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  const std::size_t before = thread.local_memory().size();
  const FramePlace caller = FramePlace::of(thread);
  const Call& call = thread.function().calls[static_cast<std::size_t>(instruction.immediate)];
  instruction.execute(thread, instruction);
  if (!tools_.init) return;
  WrittenBits& local = block.local[thread.linear];
  local.forget(before, thread.local_memory().size());
  for (const Argument& argument : thread.function().arguments) {
    if (!argument.in_register) local.mark(thread.local_base() + argument.offset, argument.bytes);
  }
  const FramePlace called = FramePlace::of(thread);
  std::vector<Unwritten>& values = block.values[thread.linear];
  values.resize(std::min(values.size(), called.registers));
  hand_over(block, thread, call.arguments, caller, thread.function().arguments, called);
}

void LaunchWatch::leave(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  const FramePlace called = FramePlace::of(thread);
  const Function& function = thread.function();
  instruction.execute(thread, instruction);
  if (thread.state == Thread::State::exited) {
    exit(block, thread);
    return;
  }
  if (!tools_.init) return;
  const Call& call = mark_results(block, thread, thread.current());
  hand_over(block, thread, function.results, called, call.results, FramePlace::of(thread));
}

const Call& LaunchWatch::mark_results(BlockWatch& block, const Thread& thread, const Instruction& of_call) {
  const Call& call = thread.function().calls[static_cast<std::size_t>(of_call.immediate)];
  for (const Argument& result : call.results) {
    if (!result.in_register)
      block.local[thread.linear].mark(thread.local_base() + result.offset, result.bytes);
  }
  return call;
}

void LaunchWatch::consider_race(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
                                const RaceDetector::Race& race) {
  ++races_met_;
  if (program_.threads_hold_copies && may_be_of_copies(thread, access, race)) {
    keep_race_of_copies(thread, access, race);
    return;
  }
  const Annotation& how = *access.annotation;
  if (race.before_wrote && how.kind == Annotation::Kind::store &&
      launch_watch::stores_the_same(thread, instruction, access))
    return;
  report_race(thread, access, race);
}

// A small tensor of Triton has fewer elements than its block has threads: several threads load an element,
// and one of them stores what it has become. And threads that store copies of an element to shared memory by
// one instruction store the same but for rounding: where a reduction fuses a product with its first addition,
// lanes round different products.
bool LaunchWatch::may_be_of_copies(const Thread& thread, const WatchedAccess& access,
                                   const RaceDetector::Race& race) const {
  const AccessRecord& before = race.before;
  if (!is_in_block_of(thread, before)) return false;
  const Annotation& now = *access.annotation;
  if (access.space == Space::shared) return now.kind == Annotation::Kind::store && now.site == before.site();
  const Annotation* const other = instruction_at(program_, before.site()).annotation;
  if (other == nullptr || !now.is_plain() || !other->is_plain()) return false;
  const auto [first, second] = race.before_wrote ? std::pair(Annotation::Kind::store, Annotation::Kind::load)
                                                 : std::pair(Annotation::Kind::load, Annotation::Kind::store);
  // Accesses are aligned, so that those with as many bytes have the same address.
  return other->kind == first && now.kind == second && other->bytes == now.bytes;
}

void LaunchWatch::keep_race_of_copies(const Thread& thread, const WatchedAccess& access,
                                      const RaceDetector::Race& race) {
  if (access.space == Space::shared) return;
  const HeldCopies::Element element{linear_index(thread.block->index(), launch_.grid), access.address};
  copies_.add_race(access.annotation->site, race.before.site(), element, [&] {
    return finding_of_race(thread, access, race,
                           "; results depend on whether other threads load this element before or after the "
                           "store: put a barrier (tl.debug_barrier) between the load and the store, or store "
                           "after the last use of what they have loaded");
  });
}

void LaunchWatch::report_copies() {
  for (const auto& [sites, race] : copies_.races()) {
    if (findings_.is_new(Finding::Kind::race, launch_.kernel, sites.first, sites.second)) add(race);
  }
}

void LaunchWatch::report_dependence_on_order() {
  if (!findings_.is_new(Finding::Kind::race, launch_.kernel, Findings::kEverySite)) return;
  Finding finding;
  finding.kind = Finding::Kind::race;
  finding.message =
      "what the kernel leaves in memory depends on the order in which its blocks and warps run, although no "
      "two accesses were seen to race";
  add(std::move(finding));
}

void LaunchWatch::report_race(const Thread& thread, const WatchedAccess& access,
                              const RaceDetector::Race& race, const std::string& hint) {
  ++races_met_;
  if (!race.before_wrote && in_flight_.had_ended(race.before)) return;
  const std::uint32_t other_site =
      race.before.site() + in_flight_.launches_ago(race.before) * AccessRecord::kSiteCount;
  // Either of the two may come first.
  const auto [one, another] = std::minmax(access.annotation->site, other_site);
  if (findings_.is_new(Finding::Kind::race, launch_.kernel, one, another))
    add(finding_of_race(thread, access, race, hint));
}

Finding LaunchWatch::finding_of_race(const Thread& thread, const WatchedAccess& access,
                                     const RaceDetector::Race& race, const std::string& hint) const {
  Finding finding;
  finding.kind = Finding::Kind::race;
  finding.other = in_flight_.place_of(race.before);
  const std::string space = launch_watch::name_of(access.space);
  const bool is_before = in_flight_.is_before(race.before);
  finding.place = place_of(thread, access.annotation->site);
  finding.message = finding.place.instruction + " races with " + finding.other->instruction + " of thread " +
                    in_words(finding.other->thread) +
                    (is_in_block_of(thread, race.before) ? " of the same block"
                                                         : " of block " + in_words(finding.other->block)) +
                    (is_before ? " of a kernel before" : "") + ": both access the same " + space +
                    " memory, one of them writes, and nothing orders them" +
                    (is_before ? launch_watch::kBeginsEarly : hint);
  finding.address = access.address;
  finding.bytes = access.annotation->bytes;
  finding.space = space;
  return finding;
}

FindingPlace LaunchWatch::place_of(const Thread& thread, std::uint32_t site) const {
  const Instruction& instruction = instruction_at(program_, site);
  return {*instruction.text, location_in(program_, instruction), thread.block->index(), thread.index};
}

bool LaunchWatch::is_in_block_of(const Thread& thread, const AccessRecord& access) const {
  return !in_flight_.is_before(access) &&
         in_flight_.index_of_block(access.block) == linear_index(thread.block->index(), launch_.grid);
}

void LaunchWatch::add(Finding finding) {
  finding.kernel = launch_.kernel;
  findings_.add(std::move(finding));
}

}  // namespace opgate::simulator
