// run.device: the result is right on a device that is not the current one.
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/late_inputs.h"
#include "judging/output_judgement.h"

namespace opgate::run_device {
namespace {

// Some results belong on the CPU wherever the inputs are, such as lengths that a launch needs.
bool is_where_it_belongs(const at::Tensor& result, c10::Device inputs, const std::vector<at::Tensor>& usual,
                         size_t position) {
  if (!result.defined() || result.device() == inputs) return true;
  return position < usual.size() && usual[position].defined() && usual[position].is_cpu() && result.is_cpu();
}

Judgement judge(CallUnderTest& under_test) {
  const c10::impl::VirtualGuardImpl gpu(under_test.key().device);
  if (gpu.deviceCount() < 2) return Judgement::owed("this check needs two GPUs, and this machine has one");
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const c10::Device current = gpu.getDevice();
  const c10::Device other(current.type(), current.index() == 0 ? 1 : 0);
  const std::string promised =
      fmt::format("the right result on {} while {} is the current device", other.str(), current.str());
  // A stream of the current device is no stream of the inputs' device; the default streams of all devices have one handle.
  const c10::StreamGuard own(gpu.getStreamFromGlobalPool(current));
  const std::vector<at::Tensor> usual = under_test.observed().outcome.returned();
  return judge_on_late_inputs(under_test, gpu.getStream(other), false, [&](const Outcome& outcome) {
    const std::vector<at::Tensor> results = outcome.returned();
    for (size_t i = 0; i < results.size(); ++i) {
      if (is_where_it_belongs(results[i], other, usual, i)) continue;
      return Judgement::fail({promised,
                              fmt::format("a result is on {}", results[i].device().str()),
                              "the output is made with options that name no device",
                              {}});
    }
    return judge_like_eager(
        under_test, outcome, promised,
        "there is no c10::cuda::CUDAGuard on the device of the inputs: the kernel runs on "
        "the current device, on its stream");
  });
}

OPGATE_REGISTER_CHECK(
    run_device,
    {.name = "run.device",
     .explanation = {.promise = "The result is right on a CUDA device that is not the current one.",
                     .why = "The current device belongs to the thread and not to the tensor: with several "
                            "GPUs, operators are called for tensors on another one. PyTorch's own operators "
                            "switch to that device; a custom one must do so itself. A launch on the wrong "
                            "device is an illegal address or, where the two devices can see each other's "
                            "memory, a race.",
                     .fix = "Write as the first line after the checks of the arguments:\n"
                            "  const c10::cuda::CUDAGuard device_guard(x.device());\n"
                            "and get the current stream after it.",
                     .example = "vllm 13632 and many others: kernels without a device guard."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .device = Scope::Device::accelerator},
     .judge = &judge});

}  // namespace
}  // namespace opgate::run_device
