#include "runtime/memory/memory_pools.h"

#include <algorithm>

namespace opgate::simulator {

void MemoryPool::note_allocation(std::uint64_t bytes) {
  used_ += bytes;
  most_used_ = std::max(most_used_, used_);
}

MemoryPools::MemoryPools(int devices) {
  for (int device = 0; device < devices; ++device) defaults_.push_back(create(device));
  current_ = defaults_;
}

void MemoryPools::set_current(int device, cudaMemPool_t pool) {
  if (at(pool)->device() != device) refuse(cudaErrorInvalidValue);
  current_.at(static_cast<std::size_t>(device)) = pool;
}

cudaMemPool_t MemoryPools::create(int device) { return pools_.add(std::make_shared<MemoryPool>(device)); }

void MemoryPools::destroy(cudaMemPool_t pool) {
  const bool is_default = std::ranges::find(defaults_, pool) != defaults_.end();
  if (is_default || !pools_.holds(pool)) refuse(cudaErrorInvalidValue);
  const auto removed = pools_.remove(pool);
  // The device goes back to its own pool.
  std::ranges::replace(current_, pool, default_of(removed->device()));
}

const std::shared_ptr<MemoryPool>& MemoryPools::at(cudaMemPool_t pool) const {
  if (!pools_.holds(pool)) refuse(cudaErrorInvalidValue);
  return pools_.at(pool);
}

std::shared_ptr<MemoryPool> MemoryPools::forget(std::uint64_t address) {
  const auto found = origins_.find(address);
  if (found == origins_.end()) return nullptr;
  auto pool = std::move(found->second);
  origins_.erase(found);
  return pool;
}

}  // namespace opgate::simulator
