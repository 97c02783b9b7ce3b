#include "judging/comparison/cpu_kernel.h"

#include "call/observation.h"
#include "process/libraries/replaced_kernels.h"
#include "spec/spec.h"

namespace opgate {

bool has_cpu_kernel_as_reference(const Spec& spec) {
  if (!spec.draft || spec.reference != nullptr || !spec.op) return false;
  return spec.op->hasKernelForDispatchKey(c10::DispatchKey::CPU) || spec.replaces_kernel();
}

std::optional<Outcome> call_of_cpu_kernel(const CallKey& key, ValueCache& values) {
  if (!has_cpu_kernel_as_reference(*key.spec)) return std::nullopt;
  Outcome outcome = outcome_of_cpu_kernel(key, values);
  if (!outcome.ok()) return std::nullopt;
  return outcome;
}

Outcome outcome_of_cpu_kernel(const CallKey& key, ValueCache& values) {
  const KernelScope scope(Purpose::call_of_torch);
  return observe(on_cpu(key), values, {.take_snapshots = false}).outcome;
}

}  // namespace opgate
