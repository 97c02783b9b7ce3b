// What several checks demand of a call's results: the number, values and metadata of another call's
// results.
#pragma once

#include <opgate/accuracy.h>

#include <optional>
#include <string>

#include "compare/agreement.h"
#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// For a call that its package returned nothing for, because of `why`. Fails, unless eager refuses the call
/// as well, so that there is nothing to package: a note then, or an invalid verdict for a contiguous sample.
Judgement judge_missing_package(CallUnderTest& under_test, const std::string& promised,
                                const std::string& why);

/// An invalid verdict where the operator refuses the contiguous sample as its spec wrote it, because then
/// nothing was tested. None otherwise.
std::optional<Judgement> refused_sample(CallUnderTest& under_test);

/// The verdict for a sample of the spec that the operator refuses: invalid, and its reason begins with
/// file:line. The case is owed where the values are not those of the recorded call. A kernel that replaces
/// one of torch's fails if that takes the sample.
Judgement refusal_of_sample(const CallKey& key, const Outcome& call, ValueCache& values);

/// The failure of a kernel that refuses a call which torch's own kernel takes on the CPU; none if that
/// refuses it, too.
std::optional<Judgement> refusal_beside_torch(const CallKey& key, const Outcome& call, ValueCache& values);

/// Passes where each tensor of `got` agrees with its counterpart in `want`. Otherwise fails with a finding
/// whose promise is `promised`, and which names the tensor where there are several.
Judgement judge_values(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                       const Agreement& agreement, const std::string& promised = "");

/// How closely the results of `call` must agree with the reference's on values made by `options`, by the
/// accuracy that the spec promises. Throws SpecError if the scale that it needs raises or gives another
/// number of tensors.
Agreement agreement_with_reference(CallUnderTest& under_test, const Outcome& call,
                                   const MaterializeOptions& options = {});

/// Passes where the results of `call` are those of `right`, which is the reference's or another kernel's:
/// within `growth` times the accuracy that the spec promises for its own samples, because the error of a sum
/// grows with the number of its terms. The error is measured at the magnitude of the terms, whatever the
/// spec says.
Judgement judge_longer_sums(CallUnderTest& under_test, const Outcome& call, const Outcome& right,
                            double growth, const std::string& promised);

/// Passes where the results of `call` are the reference's on values made by `options`, within the accuracy
/// that the spec promises. `promised` is the promise of the finding. The reference must accept these
/// values. Throws SpecError if the scale that the accuracy needs raises or gives another number of
/// tensors.
Judgement judge_near_reference(CallUnderTest& under_test, const Outcome& call, const std::string& promised,
                               const MaterializeOptions& options = {});

/// The same for `values` instead of those of `call`.
Judgement judge_near_reference(CallUnderTest& under_test, const Outcome& call,
                               const std::vector<at::Tensor>& values, const std::string& promised,
                               const MaterializeOptions& options = {});

/// Passes where the operator returns what the reference returns, within the promised accuracy; also where
/// the reference refuses a size that the engine derived.
Judgement judge_against_reference(CallUnderTest& under_test);

/// For each tensor, a scale at which an accuracy scaled by inputs measures all errors in ulps of the
/// tensor's largest element.
std::vector<at::Tensor> largest_of_each(const std::vector<at::Tensor>& tensors);

/// Compares two calls on the same values that may round differently, for an operator without a reference.
/// Passes where they are within the accuracy of each other, in ulps at the largest element of each result.
Judgement judge_near_each_other(const CallKey& key, const Outcome& got, const Outcome& want,
                                const std::string& promised);

/// Passes where the results have the same shapes and dtypes, whatever their values.
Judgement judge_shapes(const Outcome& got, const Outcome& want, const std::string& promised);

/// Compares two calls on the same values. Passes where they have the same bits. Unless `bits` are promised,
/// also passes where `got` is within the promised accuracy of the reference on values made by `options`;
/// without a reference, of `want`. Without a reference, values that are drawn at random are not compared.
Judgement judge_same(CallUnderTest& under_test, const Outcome& got, const Outcome& want, bool bits,
                     const std::string& promised, const MaterializeOptions& options = {});

/// The first difference in what can be known without values: number of tensors, shape, dtype, strides
/// (where they have a meaning), storage offset. None if there is no difference. `got` may be on another
/// device (meta).
std::optional<std::string> metadata_difference(const Outcome& got, const Outcome& want);

}  // namespace opgate
