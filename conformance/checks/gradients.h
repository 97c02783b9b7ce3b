// What the checks of derivatives ask: that there is one, and that each gradient is near another.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "call/derivative.h"
#include "call/evidence.h"
#include "checks/verdict.h"

namespace opgate {

/// The derivative as it was asked for, or the finding (or fault of the spec) that there is none.
struct Differentiated {
  Derivative derivative;
  std::optional<Judgement> none;  ///< why it cannot be compared with anything
};

/// The operator's. `promised` is what a finding says; without a derivative it is a finding.
Differentiated differentiated(Evidence& evidence, const Asking& asking, const std::string& promised);

/// What gradients may be off beyond their own rounding, by input: what the reference's gradient changes where
/// inputs do by an ulp. Of an ill-conditioned function no more can be asked.
using Slack = std::map<std::string, double>;

/// What rounding may make of a sum that has this gradient for a term.
double rounding_of(const at::Tensor& gradient);

/// That of the case, for the gradients that came in to `mine`.
Slack slack(Evidence& evidence, const Derivative& mine);

/// Passes where each gradient of `got` is near its counterpart in `want`, which has those of more inputs or
/// the same: within the spec's gradient_accuracy, in ulps at the largest element of the counterpart, and the
/// slack. `when` begins the finding: "when only `x` requires grad".
Judgement judge_gradients(const Derivative& got, const Derivative& want, const Spec& spec, const Slack& slack,
                          const std::string& promised, const std::string& when = {});

/// The same against the reference, for the gradients that came in to `mine`. A reference without a derivative
/// is a fault of the spec.
Judgement judge_reference_gradients(Evidence& evidence, const Asking& asking, const Derivative& mine,
                                    const std::string& promised, const std::string& when = {});

/// Passes where the derivative has the same bits again.
Judgement judge_repeated_gradients(Evidence& evidence, const Derivative& first);

}  // namespace opgate
