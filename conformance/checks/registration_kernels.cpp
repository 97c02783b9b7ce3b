// registration.kernels: every claimed device has a kernel, no kernel is dangling, and none is registered
// twice.
#include <c10/core/DispatchKey.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "device/device.h"
#include "judging/check.h"
#include "judging/verdict.h"
#include "spec/schema/registered_name.h"
#include "spec/spec.h"

namespace opgate::registration_kernels {
namespace {

using c10::DispatchKey;

bool has_autograd(const c10::OperatorHandle& op, DispatchKey device_key) {
  return op.hasKernelForDispatchKey(DispatchKey::Autograd) || op.hasKernelForDispatchKey(device_key) ||
         op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
}

// For an operator that writes its arguments, torch.library.custom_op registers a fallback, and replaces it
// with a kernel that bumps versions.
bool is_replaced_by_torch(std::string_view line) {
  return line.starts_with("ADInplaceOrView") &&
         line.find("/torch/_library/custom_ops.py") != std::string_view::npos;
}

// The dispatcher's own listing marks a kernel that a later registration has replaced.
std::vector<std::string> replaced_kernels(const c10::OperatorHandle& op) {
  std::vector<std::string> lines;
  std::istringstream dump(op.dumpState());
  for (std::string line; std::getline(dump, line);) {
    if (line.find("(inactive)") != std::string::npos && !is_replaced_by_torch(line)) lines.push_back(line);
  }
  return lines;
}

// Kernels in this operator's namespace for operators that are not defined, most often by a misspelt m.impl.
std::vector<std::string> dangling(const c10::OperatorHandle& op) {
  std::vector<std::string> names;
  for (const c10::OperatorHandle& other : c10::Dispatcher::singleton().findDanglingImpls()) {
    if (other.operator_name().getNamespace() == op.operator_name().getNamespace())
      names.push_back(stable_name(c10::toString(other.operator_name())));
  }
  return names;
}

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const c10::OperatorHandle& op = under_test.op();
  if (!op.hasComputedKernelForDispatchKey(kernel_key(key.device))) {
    return Judgement::fail(
        {fmt::format("there is a kernel for {}, where the spec promises dtypes", device_name(key.device)),
         "none is registered",
         fmt::format("TORCH_LIBRARY_IMPL(..., {}, m) is missing, or its file is not linked in",
                     device_title(key.device))});
  }
  if (key.spec->promised(Promise::differentiable) && !key.spec->guessed.contains(Promise::differentiable) &&
      !has_autograd(op, autograd_key(key.device))) {
    return Judgement::fail(
        {"there is a kernel for Autograd, since the spec promises `differentiable`",
         "none is registered: a backward pass through the operator raises, or stops without an error",
         "register one (TORCH_LIBRARY_IMPL(..., Autograd, m), torch.library.register_autograd), or compose "
         "the operator from differentiable ones"});
  }
  const auto lines = key.spec->replaces_kernel() ? std::vector<std::string>() : replaced_kernels(op);
  if (!lines.empty()) {
    return Judgement::fail(
        {"there is one kernel for each dispatch key",
         lines.size() == 1
             ? "a kernel was registered and then replaced by another"
             : fmt::format("{} kernels were registered and then replaced by others", lines.size()),
         "two files, or two libraries in one process, register the same key; which one wins depends on the "
         "order of loading",
         {},
         lines});
  }
  if (const auto names = dangling(op); !names.empty()) {
    return Judgement::fail({"every kernel belongs to an operator that is defined",
                            fmt::format("kernels for operators without a schema: {}", fmt::join(names, ", ")),
                            "the name in m.impl differs from the one in m.def"});
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(registration_kernels, {.name = "registration.kernels",
                                             .scope = {.variants = Scope::Variants::contiguous,
                                                       .dtypes = Scope::Dtypes::first,
                                                       .first_sample = true,
                                                       .registered = true},
                                             .quick = true,
                                             .needs_device = false,
                                             .judge = &judge});

}  // namespace
}  // namespace opgate::registration_kernels
