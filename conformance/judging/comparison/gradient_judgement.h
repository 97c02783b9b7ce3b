// What the checks of derivatives share: a derivative exists, and each gradient is near another one.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "derivatives/derivative.h"
#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// A derivative, or the judgement that says why there is none.
struct Differentiated {
  Derivative derivative;
  std::optional<Judgement> none;  ///< the verdict where the derivative cannot be compared with another
};

/// The operator's derivative, as `request` asks for it. A missing derivative is a finding, whose promise is
/// `promised`.
Differentiated differentiated(CallUnderTest& under_test, const DerivativeRequest& request,
                              const std::string& promised);

/// The absolute error that a gradient may have beyond its own rounding.
struct GradientAllowance {
  /// For the rounding of inputs: from the change of the reference's gradient if inputs change by one ulp,
  /// because the gradient of an ill-conditioned function cannot be more accurate.
  double conditioning = 0;
  /// For terms that cancel: the promised accuracy of the results, at the size of the gradient's terms. An
  /// error is measured without this first, because most gradients do not need it.
  double cancellation = 0;
};

/// The allowance for the gradient of each input, by name.
using GradientTolerance = std::map<std::string, GradientAllowance>;

/// The absolute rounding error that a sum may have of which this gradient is a term.
double rounding_of(const at::Tensor& gradient);

/// The tolerance of the case, for the cotangents (incoming gradients) of `mine`. Empty without a reference.
GradientTolerance gradient_tolerance(CallUnderTest& under_test, const Derivative& mine);

/// Passes where each gradient of `got` is near its counterpart in `want`, which may have gradients of
/// further inputs. Near is within the spec's gradient_accuracy (64 ulps where it names none), in ulps at
/// the largest element of the counterpart, plus `tolerance`. A pass has the worst error in these ulps. `when`
/// begins the finding: "when only `x` requires grad".
Judgement judge_gradients(const Derivative& got, const Derivative& want, const Spec& spec,
                          const GradientTolerance& tolerance, const std::string& promised,
                          const std::string& when = {});

/// The same against the reference, for the cotangents of `mine`. The verdict is invalid where the reference
/// has no derivative.
Judgement judge_reference_gradients(CallUnderTest& under_test, const DerivativeRequest& request,
                                    const Derivative& mine, const std::string& promised,
                                    const std::string& when = {});

/// Where the backward of `derivative` has written a cotangent: makes that the cause and the fault of the
/// finding, and returns true.
bool explain_by_written_cotangent(const Derivative& derivative, Finding& finding);

/// Computes the derivative again; passes where each gradient has the same bits as in `first`.
Judgement judge_repeated_gradients(CallUnderTest& under_test, const Derivative& first);

}  // namespace opgate
