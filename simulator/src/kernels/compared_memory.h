// The memory of a launch that is executed twice from the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "machine/launches/launch.h"

namespace opgate::simulator {

/// Why the two executions of a launch cannot be compared. It leaves the first of them.
struct NotComparable {
  std::string why;
};

/// Gives the first execution a copy of each allocation that it accesses, so that the memory itself stays as
/// it was, and the second one the memory itself.
class ComparedMemory final : public DeviceMemory {
 public:
  /// `host_may_write`: whether a thread of the host may write its own memory meanwhile.
  ComparedMemory(DeviceMemory& memory, bool host_may_write)
      : memory_(memory), host_may_write_(host_may_write) {}
  ~ComparedMemory() override;
  ComparedMemory(const ComparedMemory&) = delete;
  ComparedMemory& operator=(const ComparedMemory&) = delete;

  void begin_second();

  void* translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                  std::string& why) override;
  Allocated allocation_of(std::uint64_t address) override { return memory_.allocation_of(address); }
  std::uint64_t allocate_in_kernel(std::size_t bytes) override;
  bool free_in_kernel(std::uint64_t address, std::string& why) override;

  /// After both: the first place where they differ, for people; empty if there is none.
  std::string difference() const;

  /// Why that answer is worth nothing; empty if both have been watched to the end.
  const std::string& why_not_comparable() const { return why_not_comparable_; }

 private:
  struct Copy {
    std::vector<unsigned char> bytes;
    bool is_of_second = false;  ///< made before the first access of the second execution
  };
  struct HeapCall {
    std::uint64_t bytes = 0;    ///< of `malloc`
    std::uint64_t address = 0;  ///< that was given or freed
    bool operator==(const HeapCall&) const = default;
  };

  Copy* copy_of(const Allocated& allocation);
  void note(const HeapCall& call);

  DeviceMemory& memory_;
  bool host_may_write_;
  bool is_second_ = false;
  std::map<std::uint64_t, Copy> copies_;  // by the starts of the allocations
  std::size_t copied_ = 0;                // bytes
  std::vector<HeapCall> heap_calls_[2];
  std::function<void()> restore_heap_;
  std::string why_not_comparable_;
};

}  // namespace opgate::simulator
