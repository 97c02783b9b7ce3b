#include "judging/refusals/refusing_fake.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "judging/fault.h"
#include "spec/spec.h"

namespace opgate {
namespace {

bool declares_all(const Dtypes& dtypes, const Arguments& arguments) {
  return std::ranges::all_of(arguments.tensors, [&](const TensorInput& input) {
    return std::ranges::find(dtypes, input.tensor.scalar_type()) != dtypes.end();
  });
}

bool is_declared_elsewhere(const CallKey& key, const Arguments& arguments) {
  const auto& dtypes = key.spec->dtypes;
  return !declares_all(dtypes.at(key.device), arguments) &&
         std::ranges::any_of(dtypes, [&](const auto& each) { return declares_all(each.second, arguments); });
}

bool can_be_filled(const TensorInput& input) {
  const c10::ScalarType dtype = input.tensor.scalar_type();
  return !c10::isBitsType(dtype) && dtype != c10::kFloat4_e2m1fn_x2;
}

bool is_refused_whatever_tensors_hold(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const std::string& message = under_test.observed().outcome.raised->message;
  for (const int64_t element : {0, 1}) {
    const Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
    if (!std::ranges::all_of(arguments.tensors, can_be_filled)) return false;
    for (const TensorInput& input : arguments.tensors) input.tensor.fill_(element);
    const Outcome call = call_on(key, arguments.stack);
    if (call.ok() || call.raised->message != message) return false;
  }
  return true;
}

}  // namespace

std::optional<Finding> acceptance_by_fake(CallUnderTest& under_test, const std::string& what) {
  const Observation& call = under_test.observed();
  if (is_declared_elsewhere(under_test.key(), call.arguments)) return std::nullopt;
  if (!under_test.fake().ok() || !is_refused_whatever_tensors_hold(under_test)) return std::nullopt;
  return Finding{
      fmt::format("where {}, the meta kernel refuses what the operator refuses", what),
      "the meta kernel accepts it; the operator raises: " + first_line(call.outcome.raised->message),
      "a check is in the real kernel alone; put it into a function that both call",
      {fault::kFakeAccepts, ""}};
}

}  // namespace opgate
