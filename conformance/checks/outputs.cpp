#include "checks/outputs.h"

#include <c10/util/hash.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/dtypes.h"
#include "compare/comparison.h"
#include "compare/float_format.h"
#include "layouts/geometry.h"

namespace opgate {
namespace {

// Strides of a dim of size 1 and of an empty tensor mean nothing.
bool same_strides(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0) return true;
  for (int64_t dim = 0; dim < a.dim(); ++dim) {
    if (a.size(dim) > 1 && a.stride(dim) != b.stride(dim)) return false;
  }
  return true;
}

std::optional<std::string> metadata_difference(const at::Tensor& got, const at::Tensor& want) {
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

bool both_floating(const at::Tensor& a, const at::Tensor& b) {
  return float_format(a.scalar_type()) && float_format(b.scalar_type()) && a.is_complex() == b.is_complex();
}

}  // namespace

std::string output_name(size_t i, size_t count) {
  return count == 1 ? "the output" : fmt::format("output {}", i);
}

Judgement refusal_of_sample(const CallKey& key, const Outcome& call) {
  return Judgement::invalid(fmt::format("{}: the operator refuses this sample of its spec: {}",
                                        key.sample->where, call.raised->message));
}

std::optional<Judgement> refused_sample(Evidence& evidence) {
  const Outcome& call = evidence.observed().outcome;
  if (call.ok() || !evidence.key().is_contiguous()) return std::nullopt;
  return refusal_of_sample(evidence.key(), call);
}

Judgement judge_values(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                       const Agreement& agreement) {
  const size_t count = got.size();
  const auto fail = [&](std::string happened, std::vector<std::string> detail = {}) {
    return Judgement::fail({agreement.promised, std::move(happened), "", std::move(detail)});
  };
  if (count != want.size()) return fail(fmt::format("{} tensors returned, not {}", count, want.size()));
  double worst_ulps = 0;
  for (size_t i = 0; i < count; ++i) {
    const at::Tensor& mine = got[i];
    at::Tensor theirs = want[i];
    const bool widened =
        mine.scalar_type() != theirs.scalar_type() && agreement.rounding == Rounding::to_output;
    if (widened && agreement.accuracy.exact && both_floating(mine, theirs))
      theirs = theirs.to(mine.scalar_type());
    // Only a reference may be in another dtype; between two runs of one operator that is a difference in
    // itself.
    const bool comparable = widened || mine.scalar_type() == theirs.scalar_type();
    const at::Tensor scale = agreement.scales.empty() ? at::Tensor() : agreement.scales.at(i);
    const Comparison comparison = compare(mine, theirs, comparable ? agreement.accuracy : exact(), scale);
    if (!comparison.unlike && agreement.unspecified.contains(i)) continue;
    if (!comparison.within()) {
      const std::string where = count == 1 ? "" : output_name(i, count) + ": ";
      return fail(where + difference_text(comparison, mine, theirs), neighbourhood(comparison, mine, theirs));
    }
    worst_ulps = std::max(worst_ulps, comparison.worst_ulps);
  }
  return Judgement::pass(worst_ulps);
}

std::vector<at::Tensor> expected_values(const Outcome& reference, const Outcome& call) {
  std::vector<at::Tensor> returned = reference.returned();
  return returned.size() == call.values().size() ? returned : reference.values();
}

Judgement judge_near_reference(Evidence& evidence, const Outcome& call, const std::string& promised,
                               const Making& making) {
  const Spec& spec = *evidence.key().spec;
  Agreement agreement{promised, *spec.accuracy, Rounding::to_output, spec.unspecified};
  if (spec.accuracy->by_inputs) {
    const Outcome scales = evidence.scales(making);
    if (!scales.ok()) {
      throw SpecError(fmt::format("{}: the {}: {}", spec.where,
                                  spec.scale
                                      ? "scale that the accuracy of " + spec.name + " is measured at raises"
                                      : "reference of " + spec.name +
                                            " refuses the absolute values of the inputs, which an "
                                            "accuracy scaled by inputs measures with",
                                  scales.raised->message));
    }
    agreement.scales = expected_values(scales, call);
    if (spec.scale && agreement.scales.size() != call.values().size()) {
      throw SpecError(fmt::format("{}: the scale of {} gives {} tensors for {} results", spec.where,
                                  spec.name, agreement.scales.size(), call.values().size()));
    }
  }
  return judge_values(call.values(), expected_values(evidence.reference(making), call), agreement);
}

Judgement judge_near_each_other(const Spec& spec, const Outcome& got, const Outcome& want,
                                const std::string& promised) {
  Agreement agreement{promised, *spec.accuracy, Rounding::none, spec.unspecified, {}};
  if (!spec.accuracy->exact) {
    agreement.accuracy = spec.accuracy->scaled_by_inputs();
    agreement.scales = largest_of_each(want.values());
  }
  return judge_values(got.values(), want.values(), agreement);
}

std::vector<at::Tensor> largest_of_each(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> scales;
  for (const at::Tensor& tensor : tensors) {
    const bool has_size = tensor.defined() && tensor.is_floating_point() && tensor.numel() > 0;
    scales.push_back(has_size ? tensor.abs().nan_to_num(0, 0, 0).max().expand_as(tensor) : tensor);
  }
  return scales;
}

Judgement judge_same(Evidence& evidence, const Outcome& got, const Outcome& want, bool bits,
                     const std::string& promised, const Making& making) {
  const Spec& spec = *evidence.key().spec;
  Judgement same =
      judge_values(got.values(), want.values(), {.promised = promised, .unspecified = spec.unspecified});
  if (!same.finding || bits) return same;
  if (spec.reference == nullptr) return judge_near_each_other(spec, got, want, promised);
  if (!evidence.reference(making).ok()) return same;
  return judge_near_reference(evidence, got, promised, making);
}

namespace {

// Alike in all but the width of floating numbers.
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

// Of a reference that returns other shapes or kinds of dtypes than the operator nobody can say which of them
// is wrong; unless the fake kernel agrees with the operator: then it is the spec that stands alone.
std::optional<std::string> contradicted_reference(Evidence& evidence, const Outcome& reference) {
  const Outcome& call = evidence.observed().outcome;
  if (!call.ok() || !evidence.key().is_contiguous()) return std::nullopt;
  const std::vector<at::Tensor> got = call.values();
  const std::vector<at::Tensor> want = expected_values(reference, call);
  const auto text = [](const std::vector<at::Tensor>& tensors) {
    std::string all;
    for (const at::Tensor& tensor : tensors) all += (all.empty() ? "" : ", ") + kind_text(tensor);
    return all;
  };
  if (std::ranges::equal(got, want, same_kind)) return std::nullopt;

  const Outcome& fake = evidence.by("meta").outcome;
  if (!fake.ok() || metadata_difference(call, fake)) return std::nullopt;
  return fmt::format(
      "{}: for sample {} the reference returns {}; the operator, and its fake kernel, return {}: the spec is "
      "wrong, "
      "or both kernels are",
      evidence.key().spec->where, evidence.key().sample->name, text(want), text(got));
}

}  // namespace

Judgement judge_against_reference(Evidence& evidence) {
  const Outcome& call = evidence.observed().outcome;
  const Outcome& reference = evidence.reference();
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  if (!reference.ok()) {
    // A size that the engine derived (empty, 0-dim) may mean nothing to the reference: that the call came
    // back is all that can be said of it then.
    if (!call.ok() || !evidence.key().is_contiguous()) return Judgement::pass();
    return Judgement::invalid(
        fmt::format("{}: the reference refuses this sample, which the operator takes: {}",
                    evidence.key().sample->where, reference.raised->message));
  }
  const std::string promised = "the values of the reference on the same input";
  if (!call.ok()) {
    return Judgement::fail({promised,
                            "raised: " + call.raised->message,
                            "this size is not handled; the reference takes it",
                            {}});
  }
  Judgement judgement = judge_near_reference(evidence, call, promised);
  if (!judgement.finding) return judgement;
  if (auto contradiction = contradicted_reference(evidence, reference))
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

std::string digest(const std::vector<at::Tensor>& tensors) {
  std::string bytes;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor host = tensor.resolve_conj().resolve_neg().to(c10::kCPU).contiguous();
    bytes += fmt::format("{}{};", dtype_name(host.scalar_type()), index_text(host.sizes()));
    bytes.append(static_cast<const char*>(host.const_data_ptr()), host.nbytes());
  }
  return c10::sha1(bytes).str();
}

}  // namespace opgate
