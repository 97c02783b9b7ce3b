#include "runtime/memory/heap.h"

#include <algorithm>
#include <iterator>

namespace opgate::simulator {
namespace heap {

constexpr std::size_t kAlignment = 512;          // what torch's allocator expects of cudaMalloc
constexpr std::size_t kAlignmentInKernels = 16;  // as the programming guide has it

// Kernels that run over the end of a tensor by some rows reach this guard and not the next tensor. Addresses
// cost nothing.
constexpr std::size_t kGuard = std::size_t{64} << 10;
// Many small blocks of kernels share a page, which does cost something.
constexpr std::size_t kGuardInKernels = 256;

// Freed memory holds addresses only, see `Heap::release`, so much of it can be kept.
constexpr std::size_t kQuarantineShare = 4;  // a quarter of the device's addresses

}  // namespace heap

HeapPlan plan_for_host(std::uint64_t begin, std::size_t addresses, std::size_t capacity) {
  return {begin, addresses, capacity, heap::kAlignment, heap::kGuard};
}

HeapPlan plan_for_kernels(std::uint64_t begin, std::size_t addresses, std::size_t capacity) {
  return {begin, addresses, capacity, heap::kAlignmentInKernels, heap::kGuardInKernels};
}

Heap::Heap(const AddressRange& range, const HeapPlan& plan) : range_(&range), plan_(plan) {
  // The first guard keeps the start of this heap away from the end of the former one.
  add_gap(plan.begin + heap::kGuard, plan.addresses - heap::kGuard);
}

std::size_t Heap::room_for(std::size_t bytes) const {
  return (bytes + plan_.guard + plan_.alignment - 1) / plan_.alignment * plan_.alignment;
}

std::optional<std::uint64_t> Heap::allocate(std::size_t bytes) {
  if (used_ > plan_.capacity || bytes > plan_.capacity - used_) return std::nullopt;
  const std::size_t room = room_for(bytes);
  std::optional<std::uint64_t> address = take_gap(room);
  while (!address && !quarantine_.empty()) {
    reuse_oldest();
    address = take_gap(room);
  }
  if (!address) return std::nullopt;
  blocks_[*address] = {*address, bytes};
  used_ += bytes;
  is_used_ = true;
  range_->fill(*address, bytes);
  return address;
}

bool Heap::release(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.freed) return false;
  Allocation& block = found->second;
  block.freed = true;
  used_ -= block.bytes;
  // Pages that it shares with the guards around it are of no use to anything either.
  range_->drop(block.begin - plan_.guard / 2, block.bytes + plan_.guard);
  if (block.reserved)
    used_by_graphs_ -= block.bytes;
  else
    put_into_quarantine(block);
  return true;
}

void Heap::put_into_quarantine(const Allocation& block) {
  quarantine_.push_back(block.begin);
  quarantined_ += room_for(block.bytes);
  while (quarantined_ > plan_.addresses / heap::kQuarantineShare) reuse_oldest();
}

std::optional<std::uint64_t> Heap::reserve(std::size_t bytes) {
  const std::optional<std::uint64_t> address = allocate(bytes);
  if (!address) return std::nullopt;
  blocks_.at(*address).reserved = true;
  used_by_graphs_ += bytes;
  release(*address);
  return address;
}

bool Heap::revive(std::uint64_t address) {
  Allocation& block = blocks_.at(address);
  if (!block.freed || block.bytes > plan_.capacity - used_) return false;
  block.freed = false;
  used_ += block.bytes;
  used_by_graphs_ += block.bytes;
  most_used_by_graphs_ = std::max(most_used_by_graphs_, used_by_graphs_);
  range_->fill(block.begin, block.bytes);
  return true;
}

void Heap::let_go(std::uint64_t address) {
  Allocation& block = blocks_.at(address);
  block.reserved = false;
  if (block.freed)
    put_into_quarantine(block);
  else
    used_by_graphs_ -= block.bytes;
}

const Allocation* Heap::nearest(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  return after == blocks_.begin() ? nullptr : &std::prev(after)->second;
}

const Allocation* Heap::find(std::uint64_t address) const {
  const Allocation* const block = nearest(address);
  return block != nullptr && !block->freed && address < block->end() ? block : nullptr;
}

const Allocation* Heap::find_reserved(std::uint64_t address) const {
  const Allocation* const block = nearest(address);
  return block != nullptr && block->reserved && address < block->end() ? block : nullptr;
}

const Allocation* Heap::closest(std::uint64_t address) const {
  const Allocation* const before = nearest(address);
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.end()) return before;
  const bool is_behind =
      before == nullptr || (address >= before->end() && address - before->end() > after->first - address);
  return is_behind ? &after->second : before;
}

std::string Heap::explain(std::uint64_t address, std::size_t bytes) const {
  const Allocation* const block = closest(address);
  if (block == nullptr || address >= block->end() + plan_.guard || address + plan_.guard < block->begin)
    return "not allocated";
  const std::string allocation = "an allocation of " + std::to_string(block->bytes) + " bytes";
  if (address < block->begin) {
    return "before the start of " + allocation + " by " + std::to_string(block->begin - address) +
           (block->freed ? ", which was freed" : "");
  }
  if (address + bytes > block->end()) {
    return "past the end of " + allocation + " by " + std::to_string(address + bytes - block->end()) +
           (block->freed ? ", which was freed" : "");
  }
  return "byte " + std::to_string(address - block->begin) + " of " + allocation +
         (block->freed ? " that was freed" : "");
}

void Heap::add_gap(std::uint64_t begin, std::size_t bytes) {
  gaps_[begin] = bytes;
  gaps_by_size_.emplace(bytes, begin);
}

std::size_t Heap::remove_gap(std::map<std::uint64_t, std::size_t>::iterator gap) {
  const auto [begin, bytes] = *gap;
  gaps_by_size_.erase({bytes, begin});
  gaps_.erase(gap);
  return bytes;
}

// The smallest gap that suffices is taken, so that there is still a large one when a program asks for
// gigabytes.
std::optional<std::uint64_t> Heap::take_gap(std::size_t room) {
  const auto smallest = gaps_by_size_.lower_bound({room, 0});
  if (smallest == gaps_by_size_.end()) return std::nullopt;
  const std::uint64_t begin = smallest->second;
  const std::size_t bytes = remove_gap(gaps_.find(begin));
  if (bytes > room) add_gap(begin + room, bytes - room);
  return begin;
}

void Heap::reuse_oldest() {
  std::uint64_t begin = quarantine_.front();
  quarantine_.pop_front();
  std::size_t room = room_for(blocks_.at(begin).bytes);
  blocks_.erase(begin);
  quarantined_ -= room;
  if (const auto next = gaps_.find(begin + room); next != gaps_.end()) room += remove_gap(next);
  if (const auto next = gaps_.lower_bound(begin); next != gaps_.begin()) {
    if (const auto prior = std::prev(next); prior->first + prior->second == begin) {
      begin = prior->first;
      room += remove_gap(prior);
    }
  }
  add_gap(begin, room);
}

}  // namespace opgate::simulator
