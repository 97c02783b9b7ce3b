// The operator's own kernel for the CPU, as what the kernel of an accelerator is compared with.
#pragma once

#include <optional>

#include "call/invoke.h"
#include "inputs/value_cache.h"

namespace opgate {

/// Whether nothing else says what the operator returns, and it has a kernel that is registered for the CPU: a
/// draft without a reference. Kernels for all devices (Composite...) do not count: there is nothing to
/// compare them with, unless the project replaces them at one device's key.
bool has_cpu_kernel_as_reference(const Spec& spec);

/// What the kernel for the CPU returns for the same call. None if has_cpu_kernel_as_reference() is false, or
/// if that kernel refuses the call: nobody has promised that it takes what the accelerator's takes.
std::optional<Outcome> call_of_cpu_kernel(const CallKey& key, ValueCache& values);

/// The same call, with what the kernel raised if it refuses it. has_cpu_kernel_as_reference() must be true.
Outcome outcome_of_cpu_kernel(const CallKey& key, ValueCache& values);

}  // namespace opgate
