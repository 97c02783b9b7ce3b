#include "runtime/memory/memory_map.h"

#include <algorithm>

#include "environment/memory_limit.h"
#include "environment/setting.h"
#include "machine/state_digest.h"
#include "runtime/findings/errors.h"
#include "runtime/findings/report.h"
#include "runtime/findings/tool_findings.h"

namespace opgate::simulator {
namespace memory_map {

// Guards and freed memory in quarantine use addresses too.
constexpr std::size_t kAddressesForEachByte = 4;
constexpr std::size_t kAddressesForKernels = 1;

// What a device has at first (cudaLimitMallocHeapSize).
constexpr std::size_t kHeapOfKernels = std::size_t{8} << 20;

// To read more takes seconds, and the memory of pages that nothing has touched.
constexpr std::size_t kMostOfDigest = std::size_t{4} << 30;

}  // namespace memory_map

MemoryMap::MemoryMap(const Settings& settings)
    : range_(settings.devices,
             settings.memory_bytes * (memory_map::kAddressesForEachByte + memory_map::kAddressesForKernels),
             settings.fill) {
  const std::size_t of_host = settings.memory_bytes * memory_map::kAddressesForEachByte;
  const std::size_t of_kernels = range_.bytes_of_each() - of_host;
  for (int device = 0; device < settings.devices; ++device) {
    const std::uint64_t begin = range_.begin_of(device);
    heaps_.emplace_back(range_, plan_for_host(begin, of_host, settings.memory_bytes));
    heaps_of_kernels_.emplace_back(range_,
                                   plan_for_kernels(begin + of_host, of_kernels, memory_map::kHeapOfKernels));
  }
}

std::optional<std::uint64_t> MemoryMap::digest(bool host_may_write) const {
  StateDigest digest;
  std::size_t left = memory_map::kMostOfDigest;
  bool is_not_known = false;
  const auto add = [&](const void* data, std::size_t bytes) {
    is_not_known |= bytes > left;
    if (is_not_known) return;
    left -= bytes;
    digest.add(data, bytes);
  };
  for (const std::vector<Heap>* const heaps : {&heaps_, &heaps_of_kernels_}) {
    for (const Heap& heap : *heaps)
      heap.for_each_live([&](const Allocation& block) { add(range_.alias(block.begin), block.bytes); });
  }
  host_.for_each([&](const HostBlock& block) {
    is_not_known |= host_may_write;
    add(reinterpret_cast<const void*>(block.begin), block.bytes);
  });
  if (is_not_known) return std::nullopt;
  return digest.value();
}

Heap& MemoryMap::heap_of(std::uint64_t address) {
  const int device = range_.device_of(address);
  const std::size_t of_host = range_.bytes_of_each() /
                              (memory_map::kAddressesForEachByte + memory_map::kAddressesForKernels) *
                              memory_map::kAddressesForEachByte;
  return address - range_.begin_of(device) < of_host ? heap(device) : heap_of_kernels(device);
}

std::uint64_t MemoryMap::allocate(int device, std::size_t bytes) {
  // A program may do with less, and only one that fails is owed.
  if (const std::string beyond = beyond_memory_limit(); !beyond.empty()) {
    errors::note_unsupported(beyond);
    refuse(cudaErrorMemoryAllocation);
  }
  const auto address = heap(device).allocate(bytes);
  if (!address) {
    if (has_report_file()) report_unsupported("more memory of a device than " + assignment(Setting::memory));
    refuse(cudaErrorMemoryAllocation);
  }
  note_new(*address, bytes);
  return *address;
}

void MemoryMap::note_new(std::uint64_t begin, std::size_t bytes) {
  if (written_ != nullptr) written_->forget(begin, bytes);
  if (streams_ != nullptr) streams_->begins(begin, bytes);
}

void MemoryMap::note_use(const std::string& operation, std::uint64_t begin, std::size_t bytes) {
  if (observer_ == nullptr) return;
  observer_->read(operation, begin, bytes);
  tool_findings::keep(observer_->take_findings());
}

void MemoryMap::mark_allocation_written(std::uint64_t address) {
  if (written_ == nullptr) return;
  const Allocation* const block = heap(range_.device_of(address)).find(address);
  if (block != nullptr) written_->mark_unread_written(block->begin, block->bytes);
}

Location MemoryMap::locate(const void* pointer, std::size_t bytes, std::string& why, bool later) {
  why.clear();
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (range_.holds(address)) {
    const int device = range_.device_of(address);
    const Allocation* block = heap(device).find(address);
    if (block == nullptr && later) block = heap(device).find_reserved(address);
    if (block == nullptr || bytes > block->end() - address)
      why = &heap_of(address) == &heap(device)
                ? heap(device).explain(address, bytes)
                : "memory that a kernel has got by malloc, which only kernels can use";
    return {Location::Kind::device, device, range_.alias(address)};
  }
  auto* const data = static_cast<std::byte*>(const_cast<void*>(pointer));
  const HostBlock* const block = host_.find(address);
  if (block == nullptr) return {Location::Kind::pageable, -1, data};
  if (bytes > block->end() - address) {
    why = "past the end of " + std::to_string(block->bytes) + " bytes of pinned host memory by " +
          std::to_string(address + bytes - block->end());
  }
  return {block->kind == HostBlock::Kind::managed ? Location::Kind::managed : Location::Kind::pinned, -1,
          data};
}

std::string KernelMemory::place_of(std::uint64_t address) const {
  if (!map_.range().holds(address)) return "";
  const Allocation* const block = map_.heap_of(address).closest(address);
  return block == nullptr ? "" : arguments_.place_of(address, *block);
}

void* KernelMemory::translate(std::uint64_t address, std::size_t bytes, Access /*access*/, std::size_t& until,
                              std::string& why) {
  if (map_.range().holds(address)) {
    const int owner = map_.range().device_of(address);
    if (!map_.may_access(device_, owner)) {
      why = "memory of device " + std::to_string(owner) + ", which device " + std::to_string(device_) +
            " has no peer access to";
      return nullptr;
    }
    const Heap& heap = map_.heap_of(address);
    const Allocation* const block = heap.find(address);
    if (block == nullptr || bytes > block->end() - address) {
      why = heap.explain(address, bytes);
      if (const std::string place = place_of(address); !place.empty()) why += ": " + place;
      return nullptr;
    }
    until = block->end() - address;
    return map_.range().alias(address);
  }
  const HostBlock* const block = map_.host().find(address);
  if (block == nullptr || bytes > block->end() - address) {
    why = block == nullptr
              ? (address < 4096 ? "a null pointer" : "not memory of a device")
              : "past the end of pinned host memory of " + std::to_string(block->bytes) + " bytes";
    return nullptr;
  }
  until = block->end() - address;
  return reinterpret_cast<void*>(address);
}

Allocated KernelMemory::allocation_of(std::uint64_t address) {
  if (map_.range().holds(address)) {
    const Allocation& block = *map_.heap_of(address).find(address);
    return {block.begin, block.bytes, /*is_of_host=*/false};
  }
  const HostBlock& block = *map_.host().find(address);
  return {block.begin, block.bytes, /*is_of_host=*/true};
}

// The system gets pages of freed memory back, and what they hold is lost.
std::function<void()> KernelMemory::keep_heap() {
  Heap& heap = map_.heap_of_kernels(device_);
  const auto freed = std::make_shared<std::vector<Freed>>();
  freed_ = freed.get();
  return [this, &heap, kept = heap, freed] {
    heap = kept;
    // What was there first is put back last.
    for (auto block = freed->rbegin(); block != freed->rend(); ++block) {
      const Allocation* const live = heap.find(block->begin);
      if (live != nullptr && live->bytes == block->bytes.size())
        std::ranges::copy(block->bytes, map_.range().alias(block->begin));
    }
    freed_ = nullptr;
  };
}

std::uint64_t KernelMemory::allocate_in_kernel(std::size_t bytes) {
  const std::uint64_t address = map_.heap_of_kernels(device_).allocate(bytes).value_or(0);
  if (address != 0) map_.note_new(address, bytes);
  return address;
}

bool KernelMemory::free_in_kernel(std::uint64_t address, std::string& why) {
  Heap& heap = map_.heap_of_kernels(device_);
  const Allocation* const block = freed_ == nullptr ? nullptr : heap.find(address);
  if (block != nullptr) {
    const std::byte* const bytes = map_.range().alias(block->begin);
    freed_->push_back({block->begin, {bytes, bytes + block->bytes}});
  }
  if (heap.release(address)) return true;
  if (!map_.range().holds(address)) {
    why = "not memory of a device";
  } else if (&map_.heap_of(address) == &heap) {
    why = heap.explain(address, 1);
  } else {
    why = "memory that no malloc of a kernel on this device has given";
  }
  return false;
}

}  // namespace opgate::simulator
