// run.stream: the result is right on a stream that is not the default one.
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <map>

#include "device/accelerator.h"
#include "judging/calls/late_inputs.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::run_stream {
namespace {

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const c10::impl::VirtualGuardImpl gpu(under_test.key().device);
  // All cases on devices of one type share one stream: torch hands out 32 in turn, and an operator with a
  // stream of its own might otherwise be given the same one.
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

OPGATE_REGISTER_CHECK(run_stream, {.name = "run.stream",
                                   .scope = {.variants = Scope::Variants::contiguous,
                                             .device = Scope::Device::accelerator},
                                   .judge = &judge});

}  // namespace
}  // namespace opgate::run_stream
