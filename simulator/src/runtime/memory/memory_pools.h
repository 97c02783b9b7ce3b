// Memory pools of cudaMallocAsync. Memory is given out at once, because no operation can run before it is
// issued; it is freed in the order of the stream.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/devices/handles.h"

namespace opgate::simulator {

class MemoryPool {
 public:
  explicit MemoryPool(int device) : device_(device) {}

  int device() const { return device_; }

  void note_allocation(std::uint64_t bytes);
  void note_release(std::uint64_t bytes) { used_ -= bytes; }

  /// Bytes in use; the pool keeps nothing in reserve.
  std::uint64_t used() const { return used_; }
  std::uint64_t most_used() const { return most_used_; }
  void forget_most_used() { most_used_ = used_; }

  /// Policies are kept for the program to read again; none of them changes what a correct program sees.
  std::map<cudaMemPoolAttr, int> reuse{{cudaMemPoolReuseFollowEventDependencies, 1},
                                       {cudaMemPoolReuseAllowOpportunistic, 1},
                                       {cudaMemPoolReuseAllowInternalDependencies, 1}};
  std::uint64_t release_threshold = 0;

 private:
  int device_;
  std::uint64_t used_ = 0;
  std::uint64_t most_used_ = 0;
};

class MemoryPools {
 public:
  explicit MemoryPools(int devices);

  cudaMemPool_t default_of(int device) const { return defaults_.at(static_cast<std::size_t>(device)); }
  cudaMemPool_t current_of(int device) const { return current_.at(static_cast<std::size_t>(device)); }
  void set_current(int device, cudaMemPool_t pool);

  cudaMemPool_t create(int device);
  void destroy(cudaMemPool_t pool);
  const std::shared_ptr<MemoryPool>& at(cudaMemPool_t pool) const;

  /// Which pool memory came from; null for memory of cudaMalloc.
  void remember(std::uint64_t address, std::shared_ptr<MemoryPool> pool) {
    origins_[address] = std::move(pool);
  }
  std::shared_ptr<MemoryPool> forget(std::uint64_t address);

 private:
  Handles<cudaMemPool_t, MemoryPool> pools_;
  std::vector<cudaMemPool_t> defaults_;
  std::vector<cudaMemPool_t> current_;
  std::map<std::uint64_t, std::shared_ptr<MemoryPool>> origins_;
};

}  // namespace opgate::simulator
