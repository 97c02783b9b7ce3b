#include "judging/comparison/output_judgement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/dtypes.h"
#include "base/errors.h"
#include "base/text.h"
#include "compare/float_format.h"
#include "compare/widen.h"
#include "judging/comparison/cpu_kernel.h"
#include "judging/comparison/scale_of_terms.h"
#include "layouts/geometry.h"
#include "spec/recordings.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// The stride of a dim of size 1 and the strides of an empty tensor have no meaning.
bool same_strides(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0) return true;
  for (int64_t dim = 0; dim < a.dim(); ++dim) {
    if (a.size(dim) > 1 && a.stride(dim) != b.stride(dim)) return false;
  }
  return true;
}

std::optional<std::string> metadata_difference(const at::Tensor& got, const at::Tensor& want) {
  if (!got.defined() || !want.defined()) {
    if (got.defined() == want.defined()) return std::nullopt;
    return got.defined() ? "a tensor, not none" : "no tensor";
  }
  if (got.sizes() != want.sizes()) {
    return fmt::format("shape {}, not {}", index_text(got.sizes()), index_text(want.sizes()));
  }
  if (got.scalar_type() != want.scalar_type()) {
    return fmt::format("dtype {}, not {}", dtype_name(got.scalar_type()), dtype_name(want.scalar_type()));
  }
  if (!same_strides(got, want)) {
    return fmt::format("strides {}, not {}", index_text(got.strides()), index_text(want.strides()));
  }
  if (got.storage_offset() != want.storage_offset()) {
    return fmt::format("storage offset {}, not {}", got.storage_offset(), want.storage_offset());
  }
  return std::nullopt;
}

}  // namespace

std::optional<Judgement> refusal_beside_torch(const CallKey& key, const Outcome& call, ValueCache& values) {
  if (!call_of_cpu_kernel(key, values)) return std::nullopt;
  return Judgement::fail({"the kernel takes what the kernel of torch takes that it replaces",
                          fmt::format("it raises: {}", call.raised->message)});
}

Judgement refusal_of_sample(const CallKey& key, const Outcome& call, ValueCache& values) {
  if (key.spec->replaces_kernel()) {
    // The sample was recorded with other dtypes as well, and torch's kernel may refuse it in this one.
    return refusal_beside_torch(key, call, values).value_or(Judgement::pass());
  }
  if (has_other_values_than_recorded(*key.spec, *key.sample)) {
    return Judgement::owed(fmt::format(
        "a recording keeps only the range of a large tensor, and the operator refuses values in it: {}",
        first_line(call.raised->message)));
  }
  return Judgement::invalid(fmt::format("{}: the operator refuses this sample of its spec: {}",
                                        key.sample->where, call.raised->message));
}

std::optional<Judgement> refused_sample(CallUnderTest& under_test) {
  const Outcome& call = under_test.observed().outcome;
  const CallKey& key = under_test.key();
  if (call.ok() || !key.is_contiguous()) return std::nullopt;
  return refusal_of_sample(key, call, under_test.cache().values);
}

Judgement judge_missing_package(CallUnderTest& under_test, const std::string& promised,
                                const std::string& why) {
  if (under_test.key().spec->kind == Spec::Kind::op) {
    if (auto refused = refused_sample(under_test)) return *std::move(refused);
    if (const Outcome& eager = under_test.observed().outcome; !eager.ok()) {
      return Judgement::note(
          fmt::format("nothing to judge: eager refuses this sample: {}", first_line(eager.raised->message)));
    }
  }
  return Judgement::fail({promised, why});
}

Judgement judge_values(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                       const Agreement& agreement, const std::string& promised) {
  AgreementResult result = compare_lists(got, want, agreement);
  if (!result.disagreement) return Judgement::pass(result.worst_ulps);
  return Judgement::fail({promised,
                          std::move(result.disagreement->difference),
                          "",
                          {"", "", result.disagreement->is_of_values ? "values" : "metadata"},
                          std::move(result.disagreement->neighbours)});
}

Agreement agreement_with_reference(CallUnderTest& under_test, const Outcome& call,
                                   const MaterializeOptions& options) {
  const Spec& spec = *under_test.key().spec;
  // Results that another runtime returned have no lists: each tensor is a result of its own.
  const Outcome& eager = under_test.observed().outcome;
  const Outcome& with_lists = eager.values().size() == call.values().size() ? eager : call;
  Agreement agreement{spec.accuracy_for(under_test.key().dtype),
                      Rounding::to_output,
                      with_lists.tensors_of(spec.unspecified),
                      {}};
  if (spec.accuracy->by_inputs) {
    const Outcome scales = under_test.scales(options);
    if (!scales.ok()) {
      throw spec_error("{}: the {}: {}", spec.where,
                       spec.scale ? "scale that the accuracy of " + spec.name + " is measured at raises"
                                  : "reference of " + spec.name +
                                        " refuses the absolute values of the inputs, on which an "
                                        "accuracy scaled by inputs runs it; give spec.accuracy a scale",
                       scales.raised->message);
    }
    agreement.scales = expected_values(scales, call);
    if (spec.scale && agreement.scales.size() != call.values().size()) {
      throw spec_error("{}: the scale of {} gives {} tensors for {} results", spec.where, spec.name,
                       agreement.scales.size(), call.values().size());
    }
  }
  return agreement;
}

Judgement judge_near_reference(CallUnderTest& under_test, const Outcome& call, const std::string& promised,
                               const MaterializeOptions& options) {
  return judge_near_reference(under_test, call, call.values(), promised, options);
}

Judgement judge_near_reference(CallUnderTest& under_test, const Outcome& call,
                               const std::vector<at::Tensor>& values, const std::string& promised,
                               const MaterializeOptions& options) {
  const std::vector<at::Tensor> expected = expected_values(under_test.reference(options), call);
  Agreement agreement = agreement_with_reference(under_test, call, options);
  Judgement judgement = judge_values(values, expected, agreement, promised);
  if (!judgement.finding || agreement.scales.empty() || under_test.key().spec->scale) return judgement;
  // The terms may cancel for the absolute values of the inputs as they do in the result.
  agreement.scales = scales_of_terms(under_test, call, options, agreement.scales);
  return judge_values(values, expected, agreement, promised);
}

namespace {

// The largest results of the operator for its inputs, and for their magnitudes with several choices of signs.
std::vector<at::Tensor> magnitudes_of_terms(const CallKey& key, const Outcome& want) {
  ValueCache values;
  std::vector<std::vector<at::Tensor>> found{want.values()};
  const torch::jit::Stack given =
      materialize(key, values, {.contiguous = true, .take_snapshots = false}).stack;
  for (uint64_t choice = 0; choice < choices_of_signs(given); ++choice)
    found.push_back(call_on(key, with_signs(given, choice)).values());
  return largest_of_each(largest_magnitudes(found));
}

}  // namespace

Judgement judge_near_each_other(const CallKey& key, const Outcome& got, const Outcome& want,
                                const std::string& promised) {
  const Spec& spec = *key.spec;
  Agreement agreement{spec.accuracy_for(key.dtype), Rounding::none, got.tensors_of(spec.unspecified), {}};
  if (!agreement.accuracy.exact) {
    agreement.accuracy = agreement.accuracy.scaled_by_inputs();
    agreement.scales = largest_of_each(want.values());
  }
  Judgement judgement = judge_values(got.values(), want.values(), agreement, promised);
  if (!judgement.finding || agreement.accuracy.exact) return judgement;
  // The terms of a sum may be much larger than the sum, and each order of summation rounds them otherwise.
  agreement.scales = magnitudes_of_terms(key, want);
  return judge_values(got.values(), want.values(), agreement, promised);
}

Judgement judge_longer_sums(CallUnderTest& under_test, const Outcome& call, const Outcome& right,
                            double growth, const std::string& promised) {
  const Spec& spec = *under_test.key().spec;
  const std::vector<at::Tensor> expected = expected_values(right, call);
  Agreement agreement{
      spec.accuracy_for(under_test.key().dtype), Rounding::to_output, call.tensors_of(spec.unspecified), {}};
  if (agreement.accuracy.exact) return judge_values(call.values(), expected, agreement, promised);
  agreement.accuracy = agreement.accuracy.scaled_by_inputs();
  agreement.accuracy.ulps = std::max(agreement.accuracy.ulps, 1.0) * growth;
  agreement.scales = largest_of_each(expected);
  Judgement judgement = judge_values(call.values(), expected, agreement, promised);
  if (!judgement.finding) return judgement;
  agreement.scales = spec.reference == nullptr ? magnitudes_of_terms(under_test.key(), right)
                                               : scales_of_terms(under_test, call, {}, agreement.scales);
  return judge_values(call.values(), expected, agreement, promised);
}

std::vector<at::Tensor> largest_of_each(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> scales;
  for (const at::Tensor& tensor : tensors) {
    const bool has_size =
        tensor.defined() && (tensor.is_floating_point() || tensor.is_complex()) && tensor.numel() > 0;
    scales.push_back(has_size ? largest_magnitude(tensor).expand_as(tensor) : tensor);
  }
  return scales;
}

Judgement judge_shapes(const Outcome& got, const Outcome& want, const std::string& promised) {
  std::set<size_t> every;
  for (size_t i = 0; i < got.values().size(); ++i) every.insert(i);
  return judge_values(got.values(), want.values(), {.unspecified = every}, promised);
}

Judgement judge_same(CallUnderTest& under_test, const Outcome& got, const Outcome& want, bool bits,
                     const std::string& promised, const MaterializeOptions& options) {
  const Spec& spec = *under_test.key().spec;
  Judgement same =
      judge_values(got.values(), want.values(), {.unspecified = got.tensors_of(spec.unspecified)}, promised);
  if (!same.finding || bits) return same;
  if (spec.reference == nullptr && spec.promised(Promise::nondeterministic_seeded))
    return judge_shapes(got, want, promised);  // another layout may be filled in another order
  if (spec.reference == nullptr) return judge_near_each_other(under_test.key(), got, want, promised);
  if (!under_test.reference(options).ok()) return same;
  return judge_near_reference(under_test, got, promised, options);
}

namespace {

// True if the tensors differ at most in the width of floating numbers, and in values.
bool same_kind(const at::Tensor& a, const at::Tensor& b) {
  const bool floats = a.is_floating_point() && b.is_floating_point();
  const bool complexes = a.is_complex() && b.is_complex();
  return a.sizes() == b.sizes() && (floats || complexes || a.scalar_type() == b.scalar_type());
}

std::string kind_text(const at::Tensor& tensor) {
  const std::string_view kind = tensor.is_complex()          ? "complex"
                                : tensor.is_floating_point() ? "floating"
                                                             : dtype_name(tensor.scalar_type());
  return fmt::format("{} {}", kind, index_text(tensor.sizes()));
}

// Says that the reference contradicts the operator: it returns other shapes or kinds of dtypes. Where the
// fake kernel agrees with the operator, the spec is most likely wrong; otherwise none, because either may
// be.
std::optional<std::string> contradicted_reference(CallUnderTest& under_test, const Outcome& reference) {
  const Outcome& call = under_test.observed().outcome;
  if (!call.ok() || !under_test.key().is_contiguous()) return std::nullopt;
  const std::vector<at::Tensor> got = call.values();
  const std::vector<at::Tensor> want = expected_values(reference, call);
  const auto text = [](const std::vector<at::Tensor>& tensors) {
    std::string all;
    for (const at::Tensor& tensor : tensors) all += (all.empty() ? "" : ", ") + kind_text(tensor);
    return all;
  };
  if (std::ranges::equal(got, want, same_kind)) return std::nullopt;

  const Outcome& fake = under_test.fake();
  if (!fake.ok() || metadata_difference(call, fake)) return std::nullopt;
  return fmt::format(
      "{}: for sample {} the reference returns {}, but the operator and its fake kernel return {}; the spec "
      "is wrong, or both kernels are",
      under_test.key().spec->where, under_test.key().sample->name, text(want), text(got));
}

}  // namespace

Judgement judge_against_reference(CallUnderTest& under_test) {
  const Outcome& call = under_test.observed().outcome;
  const Outcome& reference = under_test.reference();
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  if (!reference.ok()) {
    // The reference may refuse a size that the engine derived (empty, 0-dim). Then all that can be said is
    // that the call came back.
    if (!call.ok() || !under_test.key().is_contiguous()) return Judgement::pass();
    return Judgement::invalid(
        fmt::format("{}: the reference refuses this sample, which the operator takes: {}",
                    under_test.key().sample->where, reference.raised->message));
  }
  const std::string promised = "the values of the reference on the same input";
  if (!call.ok()) {
    return Judgement::fail(
        {promised, "raised: " + call.raised->message, "this size is not handled; the reference takes it"});
  }
  Judgement judgement = judge_near_reference(under_test, call, promised);
  if (!judgement.finding) return judgement;
  if (auto contradiction = contradicted_reference(under_test, reference))
    return Judgement::invalid(*std::move(contradiction));
  return judgement;
}

std::optional<std::string> metadata_difference(const Outcome& got, const Outcome& want) {
  const std::vector<at::Tensor> got_tensors = got.returned();
  const std::vector<at::Tensor> want_tensors = want.returned();
  if (got_tensors.size() != want_tensors.size()) {
    return fmt::format("{} tensors returned, not {}", got_tensors.size(), want_tensors.size());
  }
  for (size_t i = 0; i < got_tensors.size(); ++i) {
    if (const auto difference = metadata_difference(got_tensors[i], want_tensors[i])) {
      return fmt::format("{} has {}", output_name(i, got_tensors.size()), *difference);
    }
  }
  return std::nullopt;
}

}  // namespace opgate
