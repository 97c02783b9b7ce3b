#include "cuda/guard_memory.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include <opgate_sim/loaded.h>
#include "device/simulator.h"

namespace opgate {
namespace {

using torch::cuda::CUDAPluggableAllocator::changeCurrentAllocator;
using torch::cuda::CUDAPluggableAllocator::CUDAPluggableAllocator;

constexpr size_t kZoneOnGpu = 1024;  // a multiple of the 512 bytes that torch's allocator aligns to
// Larger blocks are not filled when they are freed, because reading them again would take too long.
constexpr size_t kFreedFill = size_t{512} << 10;
constexpr size_t kLarge = size_t{1} << 20;
constexpr size_t kHuge = size_t{1} << 30;

// The simulated device sees itself where a kernel leaves an allocation, reads included, if nothing is between
// them.
size_t zone() {
  static const size_t bytes = is_simulated() ? 0 : kZoneOnGpu;
  return bytes;
}

// Rounds up to one of a few capacities, so that blocks can be reused.
size_t capacity_for(size_t bytes) {
  if (is_simulated()) return bytes;
  const size_t whole = bytes + 2 * zone();
  return whole <= kLarge ? std::bit_ceil(whole) : (whole + kLarge - 1) / kLarge * kLarge;
}

const std::byte* begin_of(const Block& block) { return static_cast<const std::byte*>(block.data); }

void fill(const std::byte* data, size_t bytes, std::byte value, cudaStream_t stream) {
  C10_CUDA_CHECK(cudaMemsetAsync(const_cast<std::byte*>(data), std::to_integer<int>(value), bytes, stream));
}

// For huge blocks on the simulated device both ends are filled, as it does itself: a kernel that touches a
// few pages of 8 GB must not take seconds.
void fill_fresh(const std::byte* data, size_t bytes, std::byte value, cudaStream_t stream) {
  if (!is_simulated() || bytes <= kHuge) return fill(data, bytes, value, stream);
  fill(data, kLarge, value, stream);
  fill(data + bytes - kLarge, kLarge, value, stream);
}

// The offset of the first changed byte from `data`, and the number of changed bytes; none if there are
// none. Restores the bytes. Waits for the device.
std::optional<std::pair<std::ptrdiff_t, size_t>> changed(const std::byte* data, size_t bytes,
                                                         std::byte value) {
  std::vector<std::byte> host(bytes);
  C10_CUDA_CHECK(cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost));
  const auto differs = [&](std::byte b) { return b != value; };
  const auto first = std::ranges::find_if(host, differs);
  if (first == host.end()) return std::nullopt;
  C10_CUDA_CHECK(cudaMemset(const_cast<std::byte*>(data), std::to_integer<int>(value), bytes));
  return std::pair{first - host.begin(), static_cast<size_t>(std::ranges::count_if(host, differs))};
}

// An operator may ask for statistics of torch's allocator, which the pluggable one refuses to give.
struct GuardedAllocator final : CUDAPluggableAllocator {
  using CUDAPluggableAllocator::CUDAPluggableAllocator;

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex /*device*/) override { return {}; }
  void resetAccumulatedStats(c10::DeviceIndex /*device*/) override {}
  void resetPeakStats(c10::DeviceIndex /*device*/) override {}
};

}  // namespace

GuardMemory& GuardMemory::instance() {
  // The instance is never destroyed, because tensors in static storage are freed after everything else.
  static auto* const only = new GuardMemory;
  return *only;
}

void GuardMemory::install() {
  const auto allocator = std::make_shared<GuardedAllocator>(
      [this](size_t bytes, int device, cudaStream_t stream) { return allocate(bytes, device, stream); },
      [this](void* data, size_t, int device, cudaStream_t stream) { give_back(data, device, stream); });
  allocator->init(c10::cuda::device_count());
  allocator->set_record_stream_fn([this](void* data, cudaStream_t) { use_on_another_stream(data); });
  changeCurrentAllocator(allocator);
  guard::add(*this);
}

// The memory of blocks and threads of a kernel is fresh, too. In the calls that all checks look at, it holds
// NaN.
void GuardMemory::use(const Poison& poison) {
  static const auto fill_kernels = OPGATE_SIMULATED(opgate_sim_fill_kernels);
  const std::lock_guard lock(mutex_);
  poison_ = poison;
  if (fill_kernels != nullptr)
    fill_kernels(poison.fresh == kFirstPoison.fresh ? -1 : std::to_integer<int>(poison.fresh));
}

void GuardMemory::begin_capture() {
  const std::lock_guard lock(mutex_);
  ++holds_;
  is_capturing_ = true;
}

void GuardMemory::end_capture() {
  const std::lock_guard lock(mutex_);
  is_capturing_ = false;
}

void GuardMemory::forget_graph() {
  const std::lock_guard lock(mutex_);
  --holds_;
  is_capturing_ = false;
}

// On a GPU the freed block could become another tensor, which the graph would then overwrite.
bool GuardMemory::is_held(const Record& record) const {
  return holds_ > 0 && (record.of_graph || !is_simulated());
}

std::vector<Block> GuardMemory::alive_since(uint64_t serial) {
  const std::lock_guard lock(mutex_);
  std::vector<Block> blocks;
  for (const auto& [data, record] : alive_) {
    if (record.block.serial >= serial) blocks.push_back(record.block);
  }
  return blocks;
}

std::vector<Damage> GuardMemory::take_damage_since(uint64_t serial) {
  const std::lock_guard lock(mutex_);
  synchronize();
  std::vector<Damage> found;
  const auto inspect_zones = [&](const Record& record) {
    const Block& block = record.block;
    if (zone() == 0) return;
    const std::byte value = record.poison.zone;
    if (const auto before = changed(begin_of(block) - zone(), zone(), value)) {
      found.push_back(
          {block, Damage::Kind::before, before->first - static_cast<std::ptrdiff_t>(zone()), before->second});
    }
    if (const auto after = changed(begin_of(block) + block.bytes, zone(), value))
      found.push_back({block, Damage::Kind::after, after->first, after->second});
  };
  for (const auto& [data, record] : alive_) {
    if (record.block.serial >= serial) inspect_zones(record);
  }
  for (const Record& record : freed_) {
    if (record.block.serial < serial) continue;
    inspect_zones(record);
    if (!record.freed_filled) continue;
    if (const auto inside = changed(begin_of(record.block), record.block.bytes, record.poison.freed))
      found.push_back({record.block, Damage::Kind::freed, inside->first, inside->second});
  }
  reuse_freed();
  return found;
}

void* GuardMemory::allocate(size_t bytes, int device, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
  const size_t capacity = capacity_for(bytes);
  std::byte* const data = take(device, capacity) + zone();
  if (zone() > 0) fill(data - zone(), zone(), poison_.zone, stream);
  fill_fresh(data, bytes, poison_.fresh, stream);
  if (zone() > 0) fill(data + bytes, zone(), poison_.zone, stream);
  alive_[data] = {
      {data, bytes, guard::take_serial()}, capacity, device, poison_, false, false, is_capturing_};
  return data;
}

// Destructors of tensors call this, so it only warns about errors. An error that matters also fails the
// next CUDA call.
void GuardMemory::give_back(void* data, int device, cudaStream_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = alive_.find(data);
  if (found == alive_.end()) return;
  Record record = found->second;
  alive_.erase(found);
  record.poison.freed = poison_.freed;
  record.of_graph |= is_capturing_;
  int current = device;
  C10_CUDA_CHECK_WARN(cudaGetDevice(&current));
  if (current != device) C10_CUDA_CHECK_WARN(cudaSetDevice(device));
  if (record.block.bytes <= kFreedFill && !record.used_on_another_stream) {
    const int value = std::to_integer<int>(record.poison.freed);
    C10_CUDA_CHECK_WARN(cudaMemsetAsync(data, value, record.block.bytes, stream));
    record.freed_filled = true;
  }
  if (current != device) C10_CUDA_CHECK_WARN(cudaSetDevice(current));
  freed_.push_back(record);
}

// Such a block is not filled when it is freed: poison written on its own stream could reach it before the
// other stream is done with it.
void GuardMemory::use_on_another_stream(void* data) {
  const std::lock_guard lock(mutex_);
  if (const auto found = alive_.find(data); found != alive_.end())
    found->second.used_on_another_stream = true;
}

std::byte* GuardMemory::take(int device, size_t capacity) {
  auto& cached = cache_[{device, capacity}];
  if (!cached.empty()) {
    std::byte* const base = cached.back();
    cached.pop_back();
    return base;
  }
  if (std::ranges::find(devices_, device) == devices_.end()) devices_.push_back(device);
  const c10::cuda::CUDAStreamCaptureModeGuard permitted(cudaStreamCaptureModeRelaxed);
  void* base = nullptr;
  cudaError_t status = cudaMalloc(&base, capacity);
  if (status == cudaErrorMemoryAllocation && holds_ == 0) {
    static_cast<void>(cudaGetLastError());  // clears the error, so that the next launch does not report it
    release_cache();
    status = cudaMalloc(&base, capacity);
  }
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory: ", capacity, " bytes on device ", device);
  }
  C10_CUDA_CHECK(status);
  return static_cast<std::byte*>(base);
}

void GuardMemory::synchronize() const {
  for (const int device : devices_) {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
    C10_CUDA_CHECK(cudaDeviceSynchronize());
  }
}

// Callers have waited for the device, so that no running kernel uses a freed block.
void GuardMemory::reuse_freed() {
  for (const Record& record : freed_) {
    if (is_held(record)) continue;
    std::byte* const base = const_cast<std::byte*>(begin_of(record.block)) - zone();
    // The simulated device keeps freed memory out of use for a while.
    if (is_simulated())
      C10_CUDA_CHECK(cudaFree(base));
    else
      cache_[{record.device, record.capacity}].push_back(base);
  }
  std::erase_if(freed_, [this](const Record& record) { return !is_held(record); });
}

void GuardMemory::release_cache() {
  synchronize();
  reuse_freed();
  for (const auto& [key, blocks] : cache_) {
    for (std::byte* const base : blocks) C10_CUDA_CHECK(cudaFree(base));
  }
  cache_.clear();
}

}  // namespace opgate
