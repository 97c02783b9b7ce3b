// The CUDA memory of a worker, in the place of torch's caching allocator: each block lies between two red
// zones and is filled with poison when it is new and when it is given back, as the CPU's are.
//
// It is torch's own pluggable allocator, and in force for every CUDA call of the process, because torch takes
// another allocator only before the first CUDA tensor. So it must be right for the other checks, too:
//
// - Nothing here makes the host wait while a call runs, or a race would be hidden. Poison is written by
//   cudaMemsetAsync on the stream that the block was asked for on: a kernel launched on another stream,
//   without waiting for that one, has its results overwritten. What is given back is looked at, and used
//   again, only once the engine asks for damage, which waits for the device.
// - While a graph is captured memory comes from cudaMalloc all the same, in the capture mode that permits it;
//   the fills become nodes of the graph. What the graph writes to must not be used again while the graph
//   lives: a Hold sees to that.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory/device_memory.h"

namespace opgate {

class GuardMemory final : public DeviceMemory {
 public:
  static GuardMemory& instance();

  /// Makes torch allocate here. Throws c10::Error where its own allocator is in use already.
  void install();

  void use(const Poison& poison) override;
  std::vector<Block> alive_since(uint64_t serial) override;
  std::vector<Damage> take_damage_since(uint64_t serial) override;

  /// While one exists, no block that was given back is used again.
  class Hold {
   public:
    Hold() { instance().hold(1); }
    ~Hold() { instance().hold(-1); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
  };

 private:
  struct Record {
    Block block;
    size_t capacity;  // red zones included
    int device;
    Poison poison;
    bool used_elsewhere = false;  // on another stream, as Tensor::record_stream told
    bool freed_filled = false;    // it was given back and holds poison.freed
  };

  GuardMemory() = default;
  void hold(int change);
  void* allocate(size_t bytes, int device, cudaStream_t stream);
  void give_back(void* data, int device, cudaStream_t stream) noexcept;
  void use_elsewhere(void* data);
  std::byte* take(int device, size_t capacity);
  void synchronize() const;
  void reuse_freed();
  void release_cache();

  std::mutex mutex_;
  Poison poison_ = kFirstPoison;
  int holds_ = 0;
  std::unordered_map<const void*, Record> alive_;
  std::vector<Record> freed_;                                        // since the device was last waited for
  std::map<std::pair<int, size_t>, std::vector<std::byte*>> cache_;  // by device and capacity
  std::vector<int> devices_;                                         // that memory was made on
};

}  // namespace opgate
