// All memory that kernels and copies can reach: the heaps of the devices and what the host shares with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "machine/launches/launch.h"
#include "runtime/devices/settings.h"
#include "runtime/findings/stream_watch.h"
#include "runtime/launches/launch_arguments.h"
#include "runtime/memory/address_range.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/host_memory.h"
#include "watch/observer.h"

namespace opgate::simulator {

/// What a pointer names, as a copy sees it.
struct Location {
  enum class Kind : std::uint8_t { device, pinned, managed, pageable };

  Kind kind = Kind::pageable;
  int device = -1;            ///< of device memory only
  std::byte* data = nullptr;  ///< where the simulator may access it
};

class MemoryMap {
 public:
  explicit MemoryMap(const Settings& settings);

  /// From now on tools learn of new memory, and of what is accessed outside of kernels. Both may be null.
  void tell(Observer* observer, std::shared_ptr<StreamWatch> streams) {
    observer_ = observer;
    written_ = observer == nullptr ? nullptr : &observer->memory();
    streams_ = std::move(streams);
  }

  const AddressRange& range() const { return range_; }
  Heap& heap(int device) { return heaps_.at(static_cast<std::size_t>(device)); }
  /// Memory that kernels have got by `malloc`. Functions of the host cannot use it.
  Heap& heap_of_kernels(int device) { return heaps_of_kernels_.at(static_cast<std::size_t>(device)); }
  /// The one of these heaps that an address belongs to, of any device.
  Heap& heap_of(std::uint64_t address);
  HostMemory& host() { return host_; }

  /// Device memory of `bytes` bytes. Refuses with cudaErrorMemoryAllocation.
  std::uint64_t allocate(int device, std::size_t bytes);

  /// The tools learn that the memory is new.
  void note_new(std::uint64_t begin, std::size_t bytes);

  /// Something else than a kernel has written this memory.
  void mark_written(std::uint64_t begin, std::size_t bytes) {
    if (written_ != nullptr) written_->mark_written(begin, bytes);
  }

  /// The operation that runs, which is no kernel, has accessed this memory. `operation`: "a copy".
  void note_write(const std::string& operation, std::uint64_t begin, std::size_t bytes) {
    mark_written(begin, bytes);
    if (streams_ != nullptr) streams_->writes(operation, begin, bytes);
  }
  void note_read(const std::string& operation, std::uint64_t begin, std::size_t bytes) {
    if (streams_ != nullptr) streams_->reads(operation, begin, bytes);
  }

  /// The operation uses what it reads, or only moves it to other memory of a device.
  void note_use(const std::string& operation, std::uint64_t begin, std::size_t bytes);
  void note_move(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    if (written_ != nullptr) written_->copy_unwritten(to, from, bytes);
  }

  /// The host may write all of the allocation that an address lies in.
  void mark_allocation_written(std::uint64_t address);

  /// Where a region of memory is. Empty `why`: it may be accessed. A pointer of the host that nothing is
  /// known about is pageable memory, which the system checks itself. `later`: it is accessed by work that is
  /// still to run, and a graph may give the memory out before.
  Location locate(const void* pointer, std::size_t bytes, std::string& why, bool later = false);

  /// See DeviceMemory.
  std::optional<std::uint64_t> digest(bool host_may_write) const;

  /// `device` may access the memory of `owner`.
  void enable_peer(int device, int owner) { peers_.emplace(device, owner); }
  bool disable_peer(int device, int owner) { return peers_.erase({device, owner}) > 0; }
  bool may_access(int device, int owner) const { return device == owner || peers_.contains({device, owner}); }

 private:
  AddressRange range_;
  std::vector<Heap> heaps_;
  std::vector<Heap> heaps_of_kernels_;
  HostMemory host_;
  std::set<std::pair<int, int>> peers_;
  Observer* observer_ = nullptr;
  WrittenMemory* written_ = nullptr;  ///< that of the observer
  std::shared_ptr<StreamWatch> streams_;
};

/// Memory as the kernels of one device see it.
class KernelMemory final : public DeviceMemory {
 public:
  /// `arguments`: of the launch, which faults name.
  KernelMemory(MemoryMap& map, int device, const LaunchArguments& arguments)
      : map_(map), device_(device), arguments_(arguments) {}

  /// Which argument of the launch an address belongs to; empty if none is known.
  std::string place_of(std::uint64_t address) const;

  void* translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                  std::string& why) override;
  Allocated allocation_of(std::uint64_t address) override;
  // What is allocated and what may access it change only under the lock that a launch has.
  bool may_be_asked_at_once() const override { return true; }
  std::uint64_t allocate_in_kernel(std::size_t bytes) override;
  bool free_in_kernel(std::uint64_t address, std::string& why) override;
  std::optional<std::uint64_t> digest(bool host_may_write) const override {
    return map_.digest(host_may_write);
  }
  std::function<void()> keep_heap() override;

 private:
  /// An allocation that was freed, with what it held.
  struct Freed {
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };

  MemoryMap& map_;
  int device_;
  const LaunchArguments& arguments_;
  std::vector<Freed>* freed_ = nullptr;  ///< while the heap of kernels is kept
};

}  // namespace opgate::simulator
