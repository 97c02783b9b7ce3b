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

#include "runtime/memory/address_range.h"

namespace opgate::simulator {

struct Allocation {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  bool freed = false;
  bool reserved = false;  ///< by a graph

  std::uint64_t end() const { return begin + bytes; }
};

/// Where the memory of a heap lies, and how it is given out.
struct HeapPlan {
  std::uint64_t begin = 0;    ///< of its addresses
  std::size_t addresses = 0;  ///< guards and freed memory in quarantine use addresses, too
  std::size_t capacity = 0;   ///< how many bytes may be allocated at a time
  std::size_t alignment = 0;
  std::size_t guard = 0;  ///< at least so many addresses after each allocation stay free
};

/// For functions of the host, such as cudaMalloc.
HeapPlan plan_for_host(std::uint64_t begin, std::size_t addresses, std::size_t capacity);

/// For `malloc` in kernels, which is often called for a few bytes.
HeapPlan plan_for_kernels(std::uint64_t begin, std::size_t addresses, std::size_t capacity);

class Heap {
 public:
  Heap(const AddressRange& range, const HeapPlan& plan);

  /// The address of new memory, a multiple of the alignment; none if there is no more.
  std::optional<std::uint64_t> allocate(std::size_t bytes);

  /// False if no live allocation begins at the address.
  bool release(std::uint64_t address);

  /// Memory of a graph, which `revive` gives out and `release` takes back again and again. Until `let_go`,
  /// nothing else gets its addresses. At first it is not given out.
  std::optional<std::uint64_t> reserve(std::size_t bytes);
  /// False if it is given out already, or if the device has no more memory.
  bool revive(std::uint64_t address);
  void let_go(std::uint64_t address);
  /// Bytes of such memory that are given out.
  std::size_t used_by_graphs() const { return used_by_graphs_; }
  std::size_t most_used_by_graphs() const { return most_used_by_graphs_; }
  void forget_most_used_by_graphs() { most_used_by_graphs_ = used_by_graphs_; }

  /// The live allocation that an address lies in, or null.
  const Allocation* find(std::uint64_t address) const;

  /// The memory of a graph that an address lies in, given out or not, or null.
  const Allocation* find_reserved(std::uint64_t address) const;

  template <class Visit>
  void for_each_live(Visit visit) const {
    for (const auto& [begin, block] : blocks_)
      if (!block.freed) visit(block);
  }

  /// The allocation that begins last before the address, also a freed one, or null.
  const Allocation* nearest(std::uint64_t address) const;

  /// The allocation, live or freed, that an address lies in or comes closest to, or null. Of two that are as
  /// close, it is the one before the address.
  const Allocation* closest(std::uint64_t address) const;

  /// What is wrong with an access, for people: "past the end of an allocation of 96 bytes by 4".
  std::string explain(std::uint64_t address, std::size_t bytes) const;

  std::size_t used() const { return used_; }
  std::size_t capacity() const { return plan_.capacity; }
  void set_capacity(std::size_t bytes) { plan_.capacity = bytes; }
  /// Whether something was ever allocated.
  bool is_used() const { return is_used_; }

 private:
  void reuse_oldest();
  std::optional<std::uint64_t> take_gap(std::size_t room);
  void add_gap(std::uint64_t begin, std::size_t bytes);
  std::size_t remove_gap(std::map<std::uint64_t, std::size_t>::iterator gap);

  std::size_t room_for(std::size_t bytes) const;
  void put_into_quarantine(const Allocation& block);

  const AddressRange* range_;
  HeapPlan plan_;
  bool is_used_ = false;
  std::size_t used_ = 0;
  std::size_t used_by_graphs_ = 0;
  std::size_t most_used_by_graphs_ = 0;
  std::map<std::uint64_t, Allocation> blocks_;  // by start; live, and freed ones in quarantine
  std::map<std::uint64_t, std::size_t> gaps_;   // addresses that may be given out: bytes by start
  std::set<std::pair<std::size_t, std::uint64_t>> gaps_by_size_;  // the same
  std::deque<std::uint64_t> quarantine_;                          // the oldest first
  std::size_t quarantined_ = 0;                                   // bytes of addresses
};

}  // namespace opgate::simulator
