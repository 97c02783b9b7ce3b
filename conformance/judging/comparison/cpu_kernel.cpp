#include "judging/comparison/cpu_kernel.h"

#include "call/observation.h"
#include "spec/spec.h"

namespace opgate {

bool has_cpu_kernel_as_reference(const Spec& spec) {
  return spec.draft && spec.reference == nullptr && spec.op &&
         spec.op->hasKernelForDispatchKey(c10::DispatchKey::CPU);
}

std::optional<Outcome> call_of_cpu_kernel(const CallKey& key, ValueCache& values) {
  if (!has_cpu_kernel_as_reference(*key.spec)) return std::nullopt;
  Outcome outcome = observe(on_cpu(key), values, {.take_snapshots = false}).outcome;
  if (!outcome.ok()) return std::nullopt;
  return outcome;
}

}  // namespace opgate
