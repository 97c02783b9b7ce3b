// value.sparse: a sparse tensor instead of a dense one is refused, or gives the dense result.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "spec/spec.h"

namespace opgate::value_sparse {
namespace {

struct Form {
  std::string_view name;
  bool (*fits)(const at::Tensor& dense);
  at::Tensor (*of)(const at::Tensor& dense);
};

// Each element is stored twice, as a half: the sum is exact.
at::Tensor with_duplicates(const at::Tensor& dense) {
  const at::Tensor once = dense.to_sparse();
  const at::Tensor half = once.values() / 2;
  return at::sparse_coo_tensor(at::cat({once.indices(), once.indices()}, 1), at::cat({half, half}),
                               dense.sizes());
}

constexpr std::array<Form, 3> kForms{
    Form{"a sparse COO tensor", [](const at::Tensor& dense) { return dense.dim() > 0; },
         [](const at::Tensor& dense) { return dense.to_sparse(); }},
    Form{"a sparse COO tensor that is not coalesced",
         [](const at::Tensor& dense) { return dense.dim() > 0 && dense.is_floating_point(); },
         &with_duplicates},
    Form{"a sparse CSR tensor", [](const at::Tensor& dense) { return dense.dim() == 2; },
         [](const at::Tensor& dense) { return dense.to_sparse_csr(); }}};

constexpr std::array kDtypes{c10::kHalf,   c10::kBFloat16,     c10::kFloat,
                             c10::kDouble, c10::kComplexFloat, c10::kComplexDouble,
                             c10::kByte,   c10::kInt,          c10::kLong};

// Rounding errors of sums in another order.
constexpr double kUlps = 64;

// A sparse tensor does not keep the signs of zeros.
std::vector<at::Tensor> without_signs_of_zeros(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors)
    all.push_back(tensor.is_floating_point() || tensor.is_complex() ? tensor + 0 : tensor);
  return all;
}

// Two of three elements are zero: with f(0) != 0 a kernel for the stored values alone is wrong.
at::Tensor thinned(const at::Tensor& dense) {
  const at::Tensor kept = at::arange(dense.numel()).remainder(3).eq(0).view(dense.sizes());
  return at::where(kept, dense, at::zeros_like(dense));
}

Outcome call_and_densify(const CallKey& key, torch::jit::Stack stack) {
  const c10::OperatorHandle& op = key.spec->op.value();
  const auto call = [&op](torch::jit::Stack& arguments) {
    op.callBoxed(arguments);
    for (c10::IValue& result : arguments) {
      const bool is_sparse =
          result.isTensor() && result.toTensor().defined() && result.toTensor().layout() != at::kStrided;
      if (is_sparse) result = result.toTensor().to_dense();
    }
  };
  return invoke(op, call, std::move(stack), key.device);
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  const Arguments& sample = under_test.observed().arguments;
  for (const TensorInput& input : sample.tensors) {
    const bool can_be_sparse = std::ranges::find(kDtypes, input.tensor.scalar_type()) != kDtypes.end();
    if (input.tensor.numel() == 0 || !can_be_sparse || is_mutable(*key.spec, input.position)) continue;
    Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
    const at::Tensor values = thinned(input.tensor);
    arguments.replace(arguments.tensors[&input - sample.tensors.data()], values);
    const Outcome dense = call_on(key, arguments.stack);
    if (!dense.ok()) continue;  // zeros are not for every operator
    for (const Form& form : kForms) {
      if (!form.fits(values)) continue;
      Arguments sparse = materialize(key, under_test.cache().values, {.take_snapshots = false});
      sparse.replace(sparse.tensors[&input - sample.tensors.data()], form.of(values));
      const Outcome call = call_and_densify(key, sparse.stack);
      if (!call.ok()) continue;
      const std::vector<at::Tensor> want = without_signs_of_zeros(dense.values());
      Judgement judgement = judge_values(
          without_signs_of_zeros(call.values()), want,
          {ulps(kUlps).scaled_by_inputs(), Rounding::none, dense.tensors_of(key.spec->unspecified),
           largest_of_each(want)},
          fmt::format("where `{}` is {}, an exception is raised, or the result is that of the dense tensor",
                      input.name, form.name));
      if (!judgement.finding) continue;
      judgement.finding->likely =
          "the kernel computes with the stored values alone: zeros are values, too, and one index may be "
          "stored twice";
      judgement.finding->fault.about = input.name;
      return judgement;
    }
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(value_sparse, {.name = "value.sparse",
                                     .scope = {.variants = Scope::Variants::contiguous,
                                               .dtypes = Scope::Dtypes::first,
                                               .first_sample = true,
                                               .device = Scope::Device::cpu,
                                               .drafts = false},
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::value_sparse
