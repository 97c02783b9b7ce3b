// The services of CUDA.
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>

#include <opgate_sim/loaded.h>
#include "cuda/delay.h"
#include "cuda/guard_memory.h"
#include "device/accelerator.h"

namespace opgate {
namespace {

class Captured final : public CapturedGraph {
 public:
  // Begins the capture on the current stream.
  Captured() : graph_(std::make_unique<at::cuda::CUDAGraph>()) { graph_->capture_begin(); }

  // Ends the capture, whether or not the call raised. Throws c10::Error where the graph is not usable.
  void end() {
    hold_.end_capture();
    try {
      graph_->capture_end();
    } catch (const c10::Error&) {
      abandon();
      throw;
    }
  }

  // torch's allocators keep a reference to the graph of a failed capture, so such a graph is never
  // destroyed.
  void abandon() { static_cast<void>(graph_.release()); }

  void replay() override {
    graph_->replay();
    C10_CUDA_CHECK(cudaDeviceSynchronize());
  }

 private:
  GuardMemory::Hold hold_;  // declared first, so that it outlives the graph
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

class Services final : public AcceleratorServices {
 public:
  void guard_memory() override { GuardMemory::instance().install(); }

  void delay(int64_t cycles) override {
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    // On the simulated device no time passes while a kernel waits.
    static const auto hold_up = OPGATE_SIMULATED(opgate_sim_hold_up);
    if (hold_up == nullptr) return launch_delay(cycles, stream);
    C10_CUDA_CHECK(static_cast<cudaError_t>(hold_up(stream)));
  }

  double seconds(const std::function<void()>& work) override {
    constexpr double kMillisecond = 1e-3;
    at::cuda::CUDAEvent before(cudaEventDefault);  // enables timing, which torch disables by default
    at::cuda::CUDAEvent after(cudaEventDefault);
    C10_CUDA_CHECK(cudaDeviceSynchronize());
    before.record();
    work();
    after.record();
    after.synchronize();
    return before.elapsed_time(after) * kMillisecond;
  }

  std::string take_last_error() override {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? "" : cudaGetErrorString(error);
  }

  std::unique_ptr<CapturedGraph> capture(const std::function<void()>& call) override {
    C10_CUDA_CHECK(cudaDeviceSynchronize());  // the arguments were made on another stream
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    call();
    C10_CUDA_CHECK(cudaDeviceSynchronize());
    auto captured = std::make_unique<Captured>();
    std::exception_ptr thrown;
    try {
      call();
    } catch (...) {  // an operator may throw anything; the capture must end first
      thrown = std::current_exception();
    }
    try {
      captured->end();
    } catch (const c10::Error&) {  // an exception from the call itself says more
      if (!thrown) thrown = std::current_exception();
    }
    // A call that fails during capture often leaves an error, which the next launch would report.
    static_cast<void>(cudaGetLastError());
    if (thrown) std::rethrow_exception(thrown);
    return captured;
  }
};

Services services;

[[maybe_unused]] const bool provided = [] {
  provide_services(c10::kCUDA, services);
  return true;
}();

}  // namespace
}  // namespace opgate
