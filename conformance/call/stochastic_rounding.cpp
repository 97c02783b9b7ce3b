#include "call/stochastic_rounding.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include "base/tensors_in.h"
#include "compare/float_format.h"

namespace opgate {
namespace {

// PyTorch keeps this key for those who look at all calls of operators; nothing else includes it.
constexpr c10::DispatchKey kEveryCall = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local StochasticRounding* current = nullptr;

// The key stays included below this call, so that the operators that a kernel calls are seen, too.
void round_results(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kEveryCall), stack);
  if (current == nullptr) return;
  const auto& returns = op.schema().returns();
  for (size_t i = 0; i < returns.size(); ++i) {
    const auto* const alias = returns[i].alias_info();
    if (alias != nullptr && !alias->isWrite()) continue;  // a view has the elements of its base
    for (const at::Tensor& tensor : tensors_in(torch::jit::peek(*stack, i, returns.size())))
      current->round(tensor);
  }
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&round_results>());
}

}  // namespace

StochasticRounding::StochasticRounding(c10::ScalarType dtype, uint64_t seed)
    : dtype_(dtype), generator_(at::detail::createCPUGenerator(seed)), included_(kEveryCall) {
  current = this;
}

StochasticRounding::~StochasticRounding() { current = nullptr; }

void StochasticRounding::round(const at::Tensor& tensor) {
  const bool wide = tensor.defined() && tensor.is_cpu() && tensor.layout() == c10::kStrided &&
                    (tensor.scalar_type() == c10::kDouble || tensor.scalar_type() == c10::kComplexDouble);
  if (!wide || tensor.numel() == 0 || at::has_internal_overlap(tensor) == at::MemOverlap::Yes) return;
  const c10::impl::ExcludeDispatchKeyGuard none(kEveryCall);
  const at::NoGradGuard no_gradients;
  const at::Tensor exact = tensor.is_complex() ? at::view_as_real(tensor.resolve_conj()) : tensor.detach();
  const at::Tensor noise = at::rand(exact.sizes(), generator_, exact.options()).mul_(2).sub_(1);
  const at::Tensor moved = exact.addcmul(exact, noise, ulp_at(1, *float_format(dtype_)));
  const at::Tensor rounded = moved.to(dtype_).to(c10::kDouble);
  const at::Tensor stays =
      exact.to(dtype_).to(c10::kDouble).eq(exact).logical_or_(rounded.isfinite().logical_not_());
  const at::Tensor result = at::where(stays, exact, rounded);
  tensor.detach().copy_(tensor.is_complex() ? at::view_as_complex(result) : result);
}

}  // namespace opgate
