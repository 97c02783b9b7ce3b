#include "judging/comparison/trivial_answers.h"

#include <ATen/ops/trunc.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/dtypes.h"
#include "compare/agreement.h"
#include "judging/comparison/output_judgement.h"

namespace opgate {
namespace {

using Tensors = std::vector<at::Tensor>;

class TrivialAnswers {
 public:
  explicit TrivialAnswers(CallUnderTest& under_test) : under_test_(under_test) {
    const Outcome& call = under_test.observed().outcome;
    expected_ = expected_values(under_test.reference(), call);
    agreement_ = agreement_with_reference(under_test, call);
    for (const at::Tensor& result : call.values())
      dtypes_.push_back(result.defined() ? result.scalar_type() : at::kFloat);
  }

  std::vector<std::string> that_pass() {
    if (expected_.size() != dtypes_.size()) return {};  // the operator is wrong in another way
    try_answer("zeros", [](const at::Tensor& want) { return at::zeros_like(want); });
    if (any([](const at::Tensor& want) { return want.numel() > 1; })) {
      try_answer("one value everywhere", [](const at::Tensor& want) {
        return want.numel() == 0 ? want : want.flatten()[0].expand_as(want).contiguous();
      });
    }
    try_arguments();
    const auto is_precise = [](at::ScalarType dtype) { return dtype == at::kFloat || dtype == at::kDouble; };
    if (std::ranges::any_of(dtypes_, is_precise)) {
      for (const at::ScalarType narrow : {at::kHalf, at::kBFloat16}) {
        try_on_numbers(fmt::format("results rounded to {}", dtype_name(narrow)),
                       [narrow](const at::Tensor& want) { return want.to(narrow).to(want.scalar_type()); });
      }
    }
    if (any(is_wide))
      try_on_numbers("truncated results", [](const at::Tensor& want) { return want.trunc(); });
    try_results_for_other_values();
    return std::move(passing_);
  }

 private:
  Arguments arguments(const MaterializeOptions& options = {.contiguous = true, .take_snapshots = false}) {
    return materialize(on_cpu(under_test_.key()), under_test_.cache().values, options);
  }

  // The arguments as they were before the call, so that an operator that writes nothing is one of the
  // answers.
  void try_arguments() {
    for (const TensorInput& input : arguments().tensors) {
      const auto has_its_sizes = [&](const at::Tensor& want) {
        return want.defined() && want.sizes() == input.tensor.sizes();
      };
      if (!std::ranges::all_of(expected_, has_its_sizes)) continue;
      try_answer(fmt::format("`{}` unchanged", input.name), [&](const at::Tensor&) { return input.tensor; });
    }
  }

  // What an operator returns that writes nothing to memory in which the results of an earlier call lie, or
  // that keeps its results by the shapes of the arguments. Numbers that the spec has written are the same in
  // each call.
  void try_results_for_other_values() {
    const MaterializeOptions other{.contiguous = true, .value_seed = kOtherValues, .take_snapshots = false};
    const auto is_same = [](const TensorInput& a, const TensorInput& b) {
      return digest({a.tensor}) == digest({b.tensor});
    };
    if (std::ranges::equal(arguments().tensors, arguments(other).tensors, is_same)) return;
    const Outcome results = under_test_.reference(other);
    if (results.ok())
      try_answers("results for other values", expected_values(results, under_test_.observed().outcome));
  }

  // The reference returns fractions in a wide dtype, which PyTorch can compute with. It cannot with some
  // narrow ones, such as float4_e2m1fn_x2.
  static bool is_wide(const at::Tensor& want) {
    return want.scalar_type() == at::kDouble || want.scalar_type() == at::kFloat;
  }

  void try_on_numbers(const std::string& name,
                      const std::function<at::Tensor(const at::Tensor& want)>& answer_to) {
    try_answer(name, [&](const at::Tensor& want) { return is_wide(want) ? answer_to(want) : want; });
  }

  void try_answer(const std::string& name,
                  const std::function<at::Tensor(const at::Tensor& want)>& answer_to) {
    Tensors answers;
    for (const at::Tensor& want : expected_) answers.push_back(want.defined() ? answer_to(want) : want);
    try_answers(name, std::move(answers));
  }

  void try_answers(const std::string& name, Tensors answers) {
    const auto is_possible = [](const at::Tensor& answer, const at::Tensor& want) {
      return answer.defined() == want.defined() && (!want.defined() || answer.sizes() == want.sizes());
    };
    if (!std::ranges::equal(answers, expected_, is_possible)) return;
    for (size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].defined()) answers[i] = answers[i].to(dtypes_.at(i));
    }
    if (!compare_lists(answers, expected_, agreement_).disagreement) passing_.push_back(name);
  }

  bool any(const std::function<bool(const at::Tensor& want)>& is_such) const {
    return std::ranges::any_of(expected_,
                               [&](const at::Tensor& want) { return want.defined() && is_such(want); });
  }

  CallUnderTest& under_test_;
  Tensors expected_;                    // on the CPU; wider than the results if those are floats
  std::vector<at::ScalarType> dtypes_;  // of the results
  Agreement agreement_;
  std::vector<std::string> passing_;
};

}  // namespace

std::vector<std::string> trivial_answers_that_pass(CallUnderTest& under_test) {
  return TrivialAnswers(under_test).that_pass();
}

}  // namespace opgate
