#include "judging/comparison/cpu_kernel.h"

#include "call/observation.h"
#include "process/libraries/replaced_kernels.h"
#include "spec/spec.h"

namespace opgate {

bool has_cpu_kernel_as_reference(const Spec& spec) {
  if (!spec.draft || spec.reference != nullptr || !spec.op) return false;
  return spec.op->hasKernelForDispatchKey(c10::DispatchKey::CPU) || !spec.replaced_at.empty();
}

std::optional<Outcome> call_of_cpu_kernel(const CallKey& key, ValueCache& values) {
  if (!has_cpu_kernel_as_reference(*key.spec)) return std::nullopt;
  const KernelScope scope(Purpose::call_of_torch);
  Outcome outcome = observe(on_cpu(key), values, {.take_snapshots = false}).outcome;
  if (!outcome.ok()) return std::nullopt;
  return outcome;
}

}  // namespace opgate
