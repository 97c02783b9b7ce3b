// The memory of one device: allocations with guards between them. Freed memory is kept out of use for a
// while, so that a later access is a fault and not another tensor's value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "simulator/runtime/address_range.h"

namespace opgate::simulator {

struct Allocation {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  bool freed = false;

  std::uint64_t end() const { return begin + bytes; }
};

class Heap {
 public:
  /// `capacity`: how many bytes may be allocated at a time. `fill`: the byte that new memory holds.
  Heap(const AddressRange& range, int device, std::size_t capacity, unsigned char fill);

  /// The address of new memory, a multiple of 512; none if the device has no more.
  std::optional<std::uint64_t> allocate(std::size_t bytes);

  /// False if no live allocation begins at the address.
  bool release(std::uint64_t address);

  /// The live allocation that an address lies in, or null.
  const Allocation* find(std::uint64_t address) const;

  /// The allocation that begins last before the address, also a freed one, or null.
  const Allocation* nearest(std::uint64_t address) const;

  /// What is wrong with an access, for people: "past the end of an allocation of 96 bytes by 4".
  std::string explain(std::uint64_t address, std::size_t bytes) const;

  std::size_t used() const { return used_; }
  std::size_t capacity() const { return capacity_; }

 private:
  void reuse_oldest();
  std::optional<std::uint64_t> take_gap(std::size_t room);
  void add_gap(std::uint64_t begin, std::size_t bytes);
  std::size_t remove_gap(std::map<std::uint64_t, std::size_t>::iterator gap);

  const AddressRange& range_;
  std::size_t capacity_;
  unsigned char fill_;
  std::size_t used_ = 0;
  std::map<std::uint64_t, Allocation> blocks_;  // by begin; live, and freed ones in quarantine
  std::map<std::uint64_t, std::size_t> gaps_;   // addresses that may be given out: bytes by begin
  std::set<std::pair<std::size_t, std::uint64_t>> gaps_by_size_;  // the same
  std::deque<std::uint64_t> quarantine_;                          // the oldest first
  std::size_t quarantined_ = 0;                                   // bytes of addresses
};

}  // namespace opgate::simulator
