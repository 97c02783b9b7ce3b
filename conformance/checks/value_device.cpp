// value.device: the CPU and CUDA agree within the promise.
#include <set>

#include "checks/check.h"
#include "checks/outputs.h"

namespace opgate::value_device {
namespace {

// What has no values to agree on: each device draws random numbers of its own.
std::set<size_t> unspecified(const Spec& spec, size_t results) {
  std::set<size_t> which = spec.unspecified;
  for (size_t i = 0; spec.promised(Promise::draws_random) && i < results; ++i) which.insert(i);
  return which;
}

Judgement judge(Evidence& evidence) {
  CallKey key = evidence.key();
  key.device = c10::kCPU;
  Evidence on_cpu(std::move(key), evidence.bench());
  for (Evidence* each : {&evidence, &on_cpu}) {
    if (auto refused = refused_sample(*each)) return *std::move(refused);
  }
  const Spec& spec = *evidence.key().spec;
  const std::vector<at::Tensor> cuda = evidence.observed().outcome.values();
  const std::vector<at::Tensor> cpu = on_cpu.observed().outcome.values();
  Judgement judgement = judge_values(
      cuda, cpu,
      {.promised = "the same bits on CUDA as on the CPU", .unspecified = unspecified(spec, cuda.size())});
  if (!judgement.finding || spec.accuracy->exact) return judgement;
  if (spec.reference == nullptr) {
    return judge_near_each_other(spec, evidence.observed().outcome, on_cpu.observed().outcome,
                                 "CUDA and the CPU agree within the promised accuracy");
  }
  // Other bits, where none are promised: then each must be near enough to the reference.
  for (Evidence* each : {&evidence, &on_cpu}) {
    judgement = judge_against_reference(*each);
    if (!judgement.finding) continue;
    judgement.finding->promised =
        "CUDA and the CPU agree, both within the promised accuracy of the reference";
    judgement.finding->happened =
        (each == &on_cpu ? "on the CPU: " : "on CUDA: ") + judgement.finding->happened;
    break;
  }
  return judgement;
}

OPGATE_REGISTER_CHECK(
    value_device,
    {.name = "value.device",
     .explanation = {.promise = "The CPU and CUDA agree on the same input, within the promise.",
                     .why = "A model is developed on one device and served on the other, and gradients, "
                            "tests and fakes are made on the CPU. Where both kernels are written by hand, "
                            "corner cases drift apart: rounding of halves, borders, ties, NaN.",
                     .fix = "Decide which of the two is right (value.reference says it of each), and give "
                            "both kernels the same order of checks and the same treatment of borders.",
                     .example = "torchvision 9513: an operator whose CPU and CUDA kernels differ."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .device = c10::kCUDA, .on_cpu_too = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::value_device
