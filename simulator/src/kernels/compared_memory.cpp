#include "kernels/compared_memory.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <opgate_sim/notation.h>

namespace opgate::simulator {
namespace compared_memory {

constexpr std::size_t kMostCopied = std::size_t{1} << 30;

std::string word_at(const unsigned char* bytes, std::size_t count) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, std::min(count, sizeof(word)));
  return hexadecimal(word);
}

}  // namespace compared_memory

ComparedMemory::~ComparedMemory() {
  if (restore_heap_) restore_heap_();
}

void ComparedMemory::begin_second() {
  is_second_ = true;
  if (restore_heap_) std::exchange(restore_heap_, nullptr)();
}

// What only the second execution accesses is copied before its first access.
ComparedMemory::Copy* ComparedMemory::copy_of(const Allocated& allocation) {
  if (const auto known = copies_.find(allocation.begin); known != copies_.end()) return &known->second;
  copied_ += allocation.bytes;
  if (why_not_comparable_.empty()) {
    if (copied_ > compared_memory::kMostCopied)
      why_not_comparable_ = "it accesses allocations of more than " +
                            std::to_string(compared_memory::kMostCopied >> 20) + " MiB";
    else if (allocation.is_of_host && host_may_write_)
      why_not_comparable_ = "it accesses memory of the host, which does not wait for it";
  }
  if (!why_not_comparable_.empty()) {
    if (!is_second_) throw NotComparable{why_not_comparable_};
    return nullptr;
  }
  std::size_t until = 0;
  std::string why;
  const auto* const begin = static_cast<const unsigned char*>(
      memory_.translate(allocation.begin, allocation.bytes, Access::load, until, why));
  return &copies_.emplace(allocation.begin, Copy{{begin, begin + allocation.bytes}, is_second_})
              .first->second;
}

void* ComparedMemory::translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                                std::string& why) {
  void* const place = memory_.translate(address, bytes, access, until, why);
  if (place == nullptr) return nullptr;
  const Allocated allocation = memory_.allocation_of(address);
  Copy* const copy = copy_of(allocation);
  return is_second_ ? place : copy->bytes.data() + (address - allocation.begin);
}

void ComparedMemory::note(const HeapCall& call) {
  heap_calls_[is_second_ ? 1 : 0].push_back(call);
  // What this execution has left there before is of no interest.
  const auto known = copies_.find(call.address);
  if (known != copies_.end() && known->second.is_of_second == is_second_) copies_.erase(known);
}

std::uint64_t ComparedMemory::allocate_in_kernel(std::size_t bytes) {
  if (!is_second_ && !restore_heap_) restore_heap_ = memory_.keep_heap();
  const std::uint64_t address = memory_.allocate_in_kernel(bytes);
  note({bytes, address});
  return address;
}

bool ComparedMemory::free_in_kernel(std::uint64_t address, std::string& why) {
  if (!is_second_ && !restore_heap_) restore_heap_ = memory_.keep_heap();
  if (!memory_.free_in_kernel(address, why)) return false;
  note({0, address});
  return true;
}

std::string ComparedMemory::difference() const {
  if (heap_calls_[0] != heap_calls_[1]) return "the calls of malloc and free differ";
  for (const auto& [address, whole_copy] : copies_) {
    const std::vector<unsigned char>& copy = whole_copy.bytes;
    std::size_t until = 0;
    std::string why;
    const auto* const second =
        static_cast<const unsigned char*>(memory_.translate(address, copy.size(), Access::load, until, why));
    if (second == nullptr) continue;  // both have freed it
    if (std::memcmp(copy.data(), second, copy.size()) == 0) continue;
    std::size_t differing = 0;
    for (std::size_t i = 0; i < copy.size(); ++i) differing += copy[i] != second[i] ? 1 : 0;
    const auto first = static_cast<std::size_t>(
        std::ranges::mismatch(copy, std::span(second, copy.size())).in1 - copy.begin());
    const std::size_t word = first / 4 * 4;
    return "byte " + std::to_string(first) + " of an allocation of " + std::to_string(copy.size()) +
           " bytes at " + hexadecimal(address) + ": the word at " + std::to_string(word) + " is " +
           compared_memory::word_at(&copy[word], copy.size() - word) + " first and " +
           compared_memory::word_at(&second[word], copy.size() - word) + " then; " +
           std::to_string(differing) + " bytes differ";
  }
  return "";
}

}  // namespace opgate::simulator
