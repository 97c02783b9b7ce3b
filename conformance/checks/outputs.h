// What several judges ask of a call's results: the same number, values and metadata as another call's.
#pragma once

#include <opgate/accuracy.h>

#include <optional>
#include <set>
#include <string>

#include "call/evidence.h"
#include "checks/verdict.h"

namespace opgate {

/// How a result in a wider dtype is compared with the operator's own.
enum class Rounding { none, to_output };

/// An invalid verdict where the operator refuses the sample as its spec wrote it: then nothing was tested.
std::optional<Judgement> refused_sample(Evidence& evidence);

/// What is said of a sample, as its spec wrote it, that the operator refuses; begins with file:line.
Judgement refusal_of_sample(const CallKey& key, const Outcome& call);

/// What two groups of tensors are held to.
struct Agreement {
  std::string promised = {};  ///< said where it is not kept
  Accuracy accuracy = exact();
  Rounding rounding = Rounding::none;
  std::set<size_t> unspecified = {};    ///< results whose shape and dtype count, and not their values
  std::vector<at::Tensor> scales = {};  ///< one a result, for an accuracy scaled by inputs
};

/// Passes where each tensor of `got` agrees with its counterpart in `want`. Otherwise a finding that names
/// the tensor where there are several.
Judgement judge_values(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                       const Agreement& agreement);

/// Passes where the results of `call` are the reference's on values made by `making`, within the accuracy
/// that the spec promises. `promised` is what the finding says of it. The reference must take these values.
Judgement judge_near_reference(Evidence& evidence, const Outcome& call, const std::string& promised,
                               const Making& making = {});

/// What `call` is to return: of a reference that returns what the operator writes, too.
std::vector<at::Tensor> expected_values(const Outcome& reference, const Outcome& call);

/// Passes where the operator returns what the reference returns, within the promised accuracy; and where both
/// refuse a size that the engine derived.
Judgement judge_against_reference(Evidence& evidence);

/// What an accuracy by inputs is measured at where it is that of the largest element: one a tensor.
std::vector<at::Tensor> largest_of_each(const std::vector<at::Tensor>& tensors);

/// Two calls on the same values, which may round otherwise, of an operator without a reference: passes where
/// they are within the accuracy of each other, at the largest element of each result.
Judgement judge_near_each_other(const Spec& spec, const Outcome& got, const Outcome& want,
                                const std::string& promised);

/// Two calls on the same values. Passes where they have the same bits; where `bits` are not promised also
/// where `got` is within the promised accuracy of the reference, for values made by `making`; without a
/// reference, of `want`.
Judgement judge_same(Evidence& evidence, const Outcome& got, const Outcome& want, bool bits,
                     const std::string& promised, const Making& making = {});

/// The first difference in what can be known without values: count, shape, strides (where they mean
/// something), storage offset, dtype. None where alike. `got` may be on another device (meta).
std::optional<std::string> metadata_difference(const Outcome& got, const Outcome& want);

/// SHA-1 over dtype, shape and row-major bytes of each result: equal digests mean bitwise equal results.
std::string digest(const std::vector<at::Tensor>& tensors);

/// The name of result `i` of `count`: "the output", or "output 1".
std::string output_name(size_t i, size_t count);

}  // namespace opgate
