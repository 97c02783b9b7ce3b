#include "machine/mbarrier.h"

#include <cstring>
#include <utility>

#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace {

// The fields, from the lowest bits on: expected, pending, bytes, phase, and a mark that neither zeros nor the
// fill of new memory have.
constexpr unsigned kCountBits = 20;
constexpr unsigned kPendingAt = kCountBits;
constexpr unsigned kBytesAt = 2 * kCountBits;
constexpr unsigned kPhaseAt = 3 * kCountBits + 1;
constexpr unsigned kMarkAt = kPhaseAt + 1;
constexpr std::uint64_t kMark = 2;
constexpr std::int64_t kMostBytes = MBarrier::kMostCount;

std::uint64_t field(std::uint64_t bits, unsigned at, unsigned width) {
  return bits >> at & ((std::uint64_t{1} << width) - 1);
}

}  // namespace

std::uint64_t MBarrier::packed() const {
  return std::uint64_t{expected} | std::uint64_t{pending} << kPendingAt |
         static_cast<std::uint64_t>(bytes + kMostBytes) << kBytesAt | std::uint64_t{phase} << kPhaseAt |
         kMark << kMarkAt;
}

bool MBarrier::unpack(std::uint64_t bits) {
  expected = static_cast<std::uint32_t>(field(bits, 0, kCountBits));
  pending = static_cast<std::uint32_t>(field(bits, kPendingAt, kCountBits));
  bytes = static_cast<std::int32_t>(field(bits, kBytesAt, kCountBits + 1)) -
          static_cast<std::int32_t>(kMostBytes);
  phase = field(bits, kPhaseAt, 1) != 0;
  return field(bits, kMarkAt, 2) == kMark;
}

void MBarrier::complete_if_nothing_is_missing() {
  if (pending != 0 || bytes != 0) return;
  pending = expected;
  phase = !phase;
}

MBarrier read_mbarrier(const SharedPlace& place, const Instruction& in) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, place.block->shared() + place.offset, sizeof(bits));
  MBarrier barrier;
  if (barrier.unpack(bits)) return barrier;
  fail(in, Fault::trap,
       " at " + hexadecimal(place.offset) + " of the shared memory, where there is no initialized mbarrier");
}

void write_mbarrier(const SharedPlace& place, const MBarrier& barrier) {
  const std::uint64_t bits = barrier.packed();
  std::memcpy(place.block->shared() + place.offset, &bits, sizeof(bits));
}

void arrive(MBarrier& barrier, std::uint32_t count, const Instruction& in) {
  if (count > barrier.pending) {
    fail(in, Fault::trap,
         ": " + std::to_string(count) + " arrive where the phase waits for " +
             std::to_string(barrier.pending));
  }
  barrier.pending -= count;
  barrier.complete_if_nothing_is_missing();
}

void expect_bytes(MBarrier& barrier, std::int64_t bytes, const Instruction& in) {
  const std::int64_t sum = barrier.bytes + bytes;
  if (sum > kMostBytes || sum < -kMostBytes)
    fail(in, Fault::trap, ": " + std::to_string(sum) + " bytes are more than an mbarrier counts");
  barrier.bytes = static_cast<std::int32_t>(sum);
}

template <>
SharedPlace place_of_mbarrier<Space::shared>(Thread& thread, const Instruction& in, std::uint64_t address) {
  if (address % sizeof(std::uint64_t) != 0)
    report_misaligned(in, address & 0xffffffffu, sizeof(std::uint64_t));
  return place_in_shared(thread, in, address, sizeof(std::uint64_t));
}

template <>
SharedPlace place_of_mbarrier<Space::generic>(Thread& thread, const Instruction& in, std::uint64_t address) {
  if (space_of(address) != Space::shared)
    fail(in, Fault::trap, " at " + hexadecimal(address) + ", which is not in shared memory");
  return place_of_mbarrier<Space::shared>(thread, in, address - kSharedWindow);
}

void Promises::keep(const SharedPlace& place, const Instruction& in) {
  std::vector<Promise> others;
  for (Promise& promise : std::exchange(pending_, {})) {
    if (!(promise.place == place)) {
      others.push_back(std::move(promise));
      continue;
    }
    MBarrier barrier = read_mbarrier(place, in);
    if (promise.thread != nullptr) {
      promise.thread->copies.finish_first(promise.count);
      arrive(barrier, 1, in);
    } else {
      for (const Copy& copy : promise.copies) copy.perform();
      expect_bytes(barrier, -std::int64_t{promise.bytes}, in);
      barrier.complete_if_nothing_is_missing();
    }
    write_mbarrier(place, barrier);
  }
  pending_ = std::move(others);
}

}  // namespace opgate::simulator
