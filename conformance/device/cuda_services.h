// The functions that need a library linked with CUDA. libopgate_cuda.so provides them when
// enable_device(c10::kCUDA) loads it. Everything else about devices and streams goes through c10's guards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace opgate {

/// The kernels that a call launched, as a CUDA graph. Each replay computes the call's results again, in the
/// same memory, from the current values of its arguments.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;

  /// Runs the graph on the current stream and waits for it. Throws c10::Error where it fails.
  virtual void replay() = 0;
};

class CudaServices {
 public:
  virtual ~CudaServices() = default;

  /// Makes torch allocate CUDA memory between red zones, filled with poison. Throws c10::Error where torch
  /// has already allocated CUDA memory.
  virtual void guard_memory() = 0;

  /// Keeps the current stream of the current device busy for `cycles` cycles of the GPU's clock (1e6 cycles
  /// take about half a millisecond), and returns immediately.
  virtual void delay(int64_t cycles) = 0;

  /// The seconds between an event on the current stream before `work` and one after it. Waits for both.
  /// Throws what `work` throws, and c10::Error where a kernel fails.
  virtual double seconds(const std::function<void()>& work) = 0;

  /// Takes the error that cudaGetLastError() holds in this thread, in CUDA's words; empty where there is none. The next
  /// operator that checks its launches would report it.
  virtual std::string take_last_error() = 0;

  /// Runs `call` twice on a stream other than the default one: once to warm up, and once to capture what it
  /// launches. Throws what `call` throws, and c10::Error where the launches cannot be captured.
  virtual std::unique_ptr<CapturedGraph> capture(const std::function<void()>& call) = 0;
};

/// Called by libopgate_cuda.so when it is loaded.
void provide(CudaServices& services);

/// The services that libopgate_cuda.so provided. Throws SetupError before enable_device(c10::kCUDA).
CudaServices& cuda_services();

}  // namespace opgate
