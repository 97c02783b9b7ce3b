// run.stream: the result is right on a stream that is not the default one.
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <map>

#include "device/accelerator.h"
#include "judging/check.h"
#include "judging/late_inputs.h"
#include "judging/output_judgement.h"

namespace opgate::run_stream {
namespace {

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const c10::impl::VirtualGuardImpl gpu(under_test.key().device);
  // All cases on devices of one type share one stream: torch hands out 32 in turn, and an operator with a stream of its own might
  // otherwise be given the same one.
  static std::map<c10::DeviceType, c10::Stream> streams;
  const c10::Device current = gpu.getDevice();
  auto side = streams.find(current.type());
  if (side == streams.end())
    side = streams.emplace(current.type(), gpu.getStreamFromGlobalPool(current)).first;
  return judge_on_late_inputs(under_test, side->second, true, [&](const Outcome& outcome) {
    return judge_like_eager(
        under_test, outcome,
        "the right result on a stream that is not the default one, from inputs made on that stream",
        fmt::format("a kernel is launched on another stream than {}: it reads the inputs before they are "
                    "written, or the next operation on the current stream reads the result too early",
                    accelerator(current.type()).words().current_stream));
  });
}

OPGATE_REGISTER_CHECK(
    run_stream,
    {.name = "run.stream",
     .explanation =
         {.promise = "The result is right on a CUDA stream that is not the default one.",
          .why =
              "PyTorch runs operators on the current stream: side streams for overlapped copies, data "
              "loading, pipelines, graph capture. A kernel that is launched without a stream goes to the "
              "default one, which waits for none of these; it is right in every test that uses the default "
              "stream only. The check produces the inputs on a side stream after a delay, so that a kernel "
              "that does not wait reads other values, and reads the result on the same stream.",
          .fix = "Pass the stream to every launch, library handle and asynchronous copy. An operator with "
                 "streams of its own must make them wait for the current stream before its work, and make "
                 "the current stream wait for them afterwards.",
          .example = "extension-cpp 118, vllm 13632: kernels launched on the default stream.",
          .wrong = R"(const c10::cuda::CUDAGuard device_guard(x.device());
twice<<<blocks, kThreads>>>(from, to, x.numel());  // on the default stream
C10_CUDA_KERNEL_LAUNCH_CHECK();)",
          .right = R"(const c10::cuda::CUDAGuard device_guard(x.device());
const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
twice<<<blocks, kThreads, 0, stream>>>(from, to, x.numel());
C10_CUDA_KERNEL_LAUNCH_CHECK();)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .device = Scope::Device::accelerator},
     .judge = &judge});

}  // namespace
}  // namespace opgate::run_stream
