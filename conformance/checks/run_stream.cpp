// run.stream: right on a stream that is not the default one.
#include <c10/core/impl/VirtualGuardImpl.h>

#include "checks/check.h"
#include "checks/elsewhere.h"
#include "checks/outputs.h"

namespace opgate::run_stream {
namespace {

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  const c10::impl::VirtualGuardImpl gpu(c10::kCUDA);
  // One for all cases: torch has 32, and an operator with a stream of its own might be given the same.
  static const c10::Stream side = gpu.getStreamFromGlobalPool(gpu.getDevice());
  return judge_elsewhere(
      evidence, call_on_late_inputs(evidence, side, true),
      "the right result on a stream that is not the default one, from inputs made on that stream",
      "a kernel is launched on another stream than c10::cuda::getCurrentCUDAStream(): it reads the inputs "
      "before they are there, or whoever is next on the current stream reads the result too early");
}

OPGATE_REGISTER_CHECK(
    run_stream,
    {.name = "run.stream",
     .explanation =
         {.promise = "Right on a CUDA stream that is not the default one.",
          .why =
              "PyTorch runs operators on the current stream: side streams for overlapped copies, data "
              "loading, pipelines, graph capture. A kernel that is launched without a stream goes to the "
              "default one, which waits for none of these; it is right in every test that uses the default "
              "stream only. Here the inputs are produced on a side stream behind a delay, so that whoever "
              "does not wait for it reads other values, and the result is read on the same stream.",
          .fix = "Pass the stream to every launch, library handle and asynchronous copy. An operator with "
                 "streams of its own makes them wait for the current one before, and the current one for "
                 "them after.",
          .example = "extension-cpp 118, vllm 13632: kernels launched on the default stream.",
          .wrong = R"(const c10::cuda::CUDAGuard device_guard(x.device());
twice<<<blocks, kThreads>>>(from, to, x.numel());  // on the default stream
C10_CUDA_KERNEL_LAUNCH_CHECK();)",
          .right = R"(const c10::cuda::CUDAGuard device_guard(x.device());
const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
twice<<<blocks, kThreads, 0, stream>>>(from, to, x.numel());
C10_CUDA_KERNEL_LAUNCH_CHECK();)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .device = c10::kCUDA},
     .judge = &judge});

}  // namespace
}  // namespace opgate::run_stream
