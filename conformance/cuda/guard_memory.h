// The CUDA memory of a worker, in place of torch's caching allocator: each block lies between two red zones,
// and is filled with poison when it is allocated and when it is freed, as CPU blocks are.
//
// It plugs into torch's pluggable allocator, and serves every CUDA call of the process, because torch accepts
// another allocator only before the first CUDA tensor. So it must not disturb other checks:
//
// - Nothing here makes the host wait while a call runs, unless memory runs out, because that would hide a
//   race. cudaMemsetAsync writes the poison on the stream for which the block was requested: the poison
//   overwrites the results of a kernel that was launched on another stream without waiting for that one.
//   Freed blocks are inspected, and reused, when the engine calls take_damage_since(), which waits for the
//   device.
// - On the simulated device there are no red zones, which a kernel could read: each block is an allocation of
//   its own, and the device fails if a kernel leaves it or uses it after it was freed.
// - While a graph is captured, memory still comes from cudaMalloc, in the capture mode that permits it, and
//   the fills become nodes of the graph. Memory that the graph writes to must not be reused while the graph
//   exists: a Hold prevents that.
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

  /// Makes torch allocate CUDA memory here. Throws c10::Error where torch's own allocator is already in
  /// use.
  void install();

  void use(const Poison& poison) override;
  std::vector<Block> alive_since(uint64_t serial) override;
  std::vector<Damage> take_damage_since(uint64_t serial) override;

  /// To be made before a graph is captured. While it exists, no freed block is reused; on the simulated
  /// device, none that was allocated or freed during the capture. Other blocks are freed there, so that a
  /// replayed graph which uses one fails.
  class Hold {
   public:
    Hold() { instance().begin_capture(); }
    ~Hold() { instance().forget_graph(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    void end_capture() { instance().end_capture(); }
  };

 private:
  struct Record {
    Block block;
    size_t capacity;  // in bytes, with the red zones
    int device;
    Poison poison;
    bool used_on_another_stream = false;  // Tensor::record_stream was called
    bool freed_filled = false;            // the block was freed and holds poison.freed
    bool of_graph = false;  // it was allocated or freed, and so filled, while a graph was captured
  };

  GuardMemory() = default;
  void begin_capture();
  void end_capture();
  void forget_graph();
  bool is_held(const Record& record) const;
  void* allocate(size_t bytes, int device, cudaStream_t stream);
  void give_back(void* data, int device, cudaStream_t stream) noexcept;
  void use_on_another_stream(void* data);
  std::byte* take(int device, size_t capacity);
  void synchronize() const;
  void reuse_freed();
  void release_cache();

  std::mutex mutex_;
  Poison poison_ = kFirstPoison;
  int holds_ = 0;
  bool is_capturing_ = false;
  std::unordered_map<const void*, Record> alive_;
  std::vector<Record> freed_;                                        // blocks that may still be in use
  std::map<std::pair<int, size_t>, std::vector<std::byte*>> cache_;  // reusable, by device and capacity
  std::vector<int> devices_;                                         // devices with memory from here
};

}  // namespace opgate
