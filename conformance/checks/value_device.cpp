// value.device: the CPU and an accelerator agree within the promised accuracy.
#include <fmt/format.h>

#include <set>

#include "device/device.h"
#include "judging/check.h"
#include "judging/output_judgement.h"

namespace opgate::value_device {
namespace {

// The results whose values need not agree. Each device draws random numbers of its own, so an operator that
// draws them has no others.
std::set<size_t> unspecified(const Spec& spec, const Outcome& call) {
  std::set<size_t> which = call.tensors_of(spec.unspecified);
  const size_t tensors = call.values().size();
  for (size_t i = 0; spec.promised(Promise::nondeterministic_seeded) && i < tensors; ++i) which.insert(i);
  return which;
}

Judgement judge(CallUnderTest& under_test) {
  CallKey key = under_test.key();
  key.device = c10::kCPU;
  CallUnderTest on_cpu(std::move(key), under_test.cache());
  for (CallUnderTest* each : {&under_test, &on_cpu}) {
    if (auto refused = refused_sample(*each)) return *std::move(refused);
  }
  const Spec& spec = *under_test.key().spec;
  const std::string device = device_title(under_test.key().device);
  Judgement judgement =
      judge_values(under_test.observed().outcome.values(), on_cpu.observed().outcome.values(),
                   {.unspecified = unspecified(spec, under_test.observed().outcome)},
                   fmt::format("the same bits on {} as on the CPU", device));
  if (!judgement.finding || spec.accuracy->exact) return judgement;
  if (spec.reference == nullptr) {
    return judge_near_each_other(under_test.key(), under_test.observed().outcome, on_cpu.observed().outcome,
                                 fmt::format("{} and the CPU agree within the promised accuracy", device));
  }
  // The bits differ and are not promised, so each result must be within the accuracy of the reference.
  for (CallUnderTest* each : {&under_test, &on_cpu}) {
    judgement = judge_against_reference(*each);
    if (!judgement.finding) continue;
    judgement.finding->promised =
        fmt::format("{} and the CPU agree, both within the promised accuracy of the reference", device);
    judgement.finding->happened =
        fmt::format("on {}: {}", each == &on_cpu ? "the CPU" : device, judgement.finding->happened);
    break;
  }
  return judgement;
}

OPGATE_REGISTER_CHECK(
    value_device,
    {.name = "value.device",
     .explanation = {.promise = "The CPU and CUDA agree on the same input, within the promised accuracy.",
                     .why = "A model is developed on one device and served on the other, and gradients, "
                            "tests and fakes are made on the CPU. Where both kernels are written by hand, "
                            "corner cases drift apart: rounding of halves, borders, ties, NaN.",
                     .fix = "Decide which of the two is right (value.reference judges each), and give "
                            "both kernels the same order of checks and the same treatment of borders.",
                     .example = "torchvision 9513: an operator whose CPU and CUDA kernels differ."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .device = Scope::Device::accelerator,
               .on_cpu_too = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::value_device
