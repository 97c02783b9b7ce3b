#include "judging/comparison/compiled_agreement.h"

#include "judging/comparison/output_judgement.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr Accuracy kUnlessPromised = ulps(4);

}  // namespace

Agreement agreement_of_compiled(const CallKey& key, const std::vector<at::Tensor>& eager) {
  Accuracy accuracy = key.spec->accuracy ? key.spec->accuracy_for(key.dtype) : kUnlessPromised;
  if (accuracy.exact) return {};
  accuracy.ulps *= 2;
  return {.accuracy = accuracy.scaled_by_inputs(), .scales = largest_of_each(eager)};
}

}  // namespace opgate
