// What only a library that links CUDA can do for the engine. libopgate_cuda.so provides it when
// enable_device(c10::kCUDA) loads it; everything else about devices and streams goes through c10's own
// guards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace opgate {

/// What a call launched, in a CUDA graph. Each replay computes the call's results anew, in the same memory,
/// from what its arguments hold then.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;

  /// Runs it on the current stream and waits for it. Throws c10::Error.
  virtual void replay() = 0;
};

class CudaServices {
 public:
  virtual ~CudaServices() = default;

  /// Makes torch allocate CUDA memory between red zones, filled with poison. Throws c10::Error where torch
  /// has allocated CUDA memory already.
  virtual void guard_memory() = 0;

  /// Keeps the current stream of the current device busy for so many cycles of the GPU's clock (1e6 are about
  /// half a millisecond), and returns at once.
  virtual void delay(int64_t cycles) = 0;

  /// Seconds that the GPU spends between an event on the current stream before `work` and one after it. Waits
  /// for both. Throws what `work` throws, and c10::Error where a kernel failed.
  virtual double seconds(const std::function<void()>& work) = 0;

  /// Makes `call` twice on a stream that is not the default one: once to warm up, and once to capture what it
  /// launches. Throws what `call` throws, and c10::Error where the launches cannot be captured.
  virtual std::unique_ptr<CapturedGraph> capture(const std::function<void()>& call) = 0;
};

/// Called by libopgate_cuda.so when it is loaded.
void provide(CudaServices& services);

/// Throws SetupError before enable_device(c10::kCUDA).
CudaServices& cuda_services();

}  // namespace opgate
