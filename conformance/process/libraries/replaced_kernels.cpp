#include "process/libraries/replaced_kernels.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/errors.h"

namespace opgate {
namespace {

// How many scopes there are for each purpose.
std::array<std::atomic<int>, 3> scopes;

std::atomic<int>& scopes_for(Purpose purpose) { return scopes.at(static_cast<size_t>(purpose)); }

bool torch_runs() {
  if (scopes_for(Purpose::call_of_torch) > 0) return true;
  return scopes_for(Purpose::under_test) == 0 && scopes_for(Purpose::own_computing) > 0;
}

struct KeptKernel {
  c10::OperatorHandle op;
  c10::DispatchKey key;
  c10::SafeKernelFunction of_torch;
};

std::vector<KeptKernel>& kept() {
  static std::vector<KeptKernel> kernels;
  return kernels;
}

class ChosenKernel : public c10::OperatorKernel {
 public:
  ChosenKernel(c10::SafeKernelFunction of_torch, c10::SafeKernelFunction of_project)
      : of_torch_(std::move(of_torch)), of_project_(std::move(of_project)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    (torch_runs() ? of_torch_ : of_project_).callBoxed(op, keys, stack);
  }

 private:
  c10::SafeKernelFunction of_torch_, of_project_;
};

// torch warns of kernels that are registered over others.
class WithoutWarnings : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

}  // namespace

void keep_kernels_of_torch(const std::map<std::string, std::string>& key_of_operator) {
  for (const auto& [name, key] : key_of_operator) {
    const size_t dot = name.find('.');
    const auto op = c10::Dispatcher::singleton().findSchema(
        {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
    if (!op) continue;
    const c10::DispatchKey at = c10::parseDispatchKey(key);
    if (op->hasComputedKernelForDispatchKey(at))
      kept().push_back({*op, at, op->getComputedKernelForDispatchKey(at)});
  }
}

void choose_kernels_by_scope() {
  static std::vector<std::unique_ptr<torch::Library>> registered;
  WithoutWarnings none;
  const c10::WarningUtils::WarningHandlerGuard guard(&none);
  for (const KeptKernel& each : kept()) {
    auto chosen =
        std::make_unique<ChosenKernel>(each.of_torch, each.op.getComputedKernelForDispatchKey(each.key));
    registered.push_back(
        std::make_unique<torch::Library>(torch::Library::IMPL, "aten", each.key, __FILE__, __LINE__));
    registered.back()->impl(toString(each.op.operator_name()).c_str(),
                            torch::CppFunction::makeFromBoxedFunctor(std::move(chosen)));
  }
  kept().clear();
}

KernelScope::KernelScope(Purpose purpose) : purpose_(purpose) { ++scopes_for(purpose_); }

KernelScope::~KernelScope() { --scopes_for(purpose_); }

}  // namespace opgate
