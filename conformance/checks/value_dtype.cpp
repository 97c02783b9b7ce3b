// value.dtype: the dtypes accepted on each device are exactly the declared ones, and half precision is near
// float32.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "base/dtypes.h"
#include "base/text.h"
#include "judging/check.h"
#include "judging/comparison/half_precision.h"
#include "judging/fault.h"
#include "judging/refusals/fake_kernel.h"
#include "judging/refusals/refusing_fake.h"
#include "spec/spec.h"

namespace opgate::value_dtype {
namespace {

// C++ messages say Int or BFloat16, and Python ones torch.int32. The name must be a word of its own,
// because "point" contains "int".
bool names_dtype(const std::string& message, c10::ScalarType dtype) {
  // torch's stable ABI refuses a dtype before the operator's own code, and names it by number: "ScalarType
  // 18".
  const std::regex name(fmt::format("\\b({}|{}|ScalarType {})\\b", c10::toString(dtype), dtype_name(dtype),
                                    static_cast<int>(dtype)),
                        std::regex::icase);
  return std::regex_search(message, name);
}

bool is_refused_by_aten(const std::string& message) {
  const auto has = [&](const char* part) { return message.find(part) != std::string::npos; };
  return has("not implemented for") ||
         (has("INTERNAL ASSERT FAILED") && (has("/aten/src/") || has("/c10/") || has("/torch/csrc/")));
}

// A call in half precision without a reference; value.reference judges those with one.
bool has_nothing_to_compare_with(const CallKey& key) {
  return (key.dtype == c10::kHalf || key.dtype == c10::kBFloat16) && key.spec->reference == nullptr;
}

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const Outcome& call = under_test.observed().outcome;
  const Dtypes& declared = key.spec->dtypes.at(key.device);
  const std::string_view dtype = dtype_name(key.dtype);
  const auto name = [](c10::ScalarType d) { return dtype_name(d); };
  std::vector<std::string_view> names(declared.size());
  std::ranges::transform(declared, names.begin(), name);
  const std::string promised = fmt::format("on {} exactly these dtypes are accepted: {}",
                                           device_name(key.device), fmt::join(names, ", "));
  if (std::ranges::find(declared, key.dtype) != declared.end()) {
    if (call.ok() && has_nothing_to_compare_with(key)) return judge_half_precision(under_test);
    // Recorded calls have dtypes of their own: one of them may be refused in the dtype of another.
    const bool is_of_another_dtype = key.spec->draft && key.sample != &key.spec->samples.front();
    if (call.ok() || is_of_another_dtype) return Judgement::pass();
    return Judgement::fail(
        {promised, fmt::format("{} is refused: {}", dtype, call.raised->message),
         "there is no kernel for this dtype; add it to the kernel's dtype dispatch, or remove it from the "
         "spec"});
  }
  if (call.ok()) {
    return Judgement::fail({promised, fmt::format("{} is accepted, and a result is returned", dtype),
                            "the kernel does not check the dtype; raise an error that names it, or declare "
                            "it in the spec so that it is tested"});
  }
  if (key.spec->promised(Promise::fake_refuses) && !fake_lives_in_python(key)) {
    const std::string what = fmt::format("the dtype is {}", dtype);
    if (auto finding = acceptance_by_fake(under_test, what)) return Judgement::fail(*std::move(finding));
  }
  if (names_dtype(call.raised->message, key.dtype)) return Judgement::pass();
  // ATen's own kernels refuse exotic dtypes in words that no operator chose: an internal assert on bits1x8.
  if (is_refused_by_aten(call.raised->message)) return Judgement::pass();
  if (!key.spec->promised(Promise::clear_errors)) {
    return Judgement::note(
        fmt::format("a dtype that is not declared is refused without being named: {}", call.raised->message));
  }
  return Judgement::fail({promised + "; any other raises an error that names it",
                          fmt::format("{} is refused without being named: {}", dtype, call.raised->message),
                          fmt::format("say what was given, for example \"x must be Float or Double, got {}\"",
                                      c10::toString(key.dtype)),
                          {fault::kMessage, first_line(call.raised->message)}});
}

OPGATE_REGISTER_CHECK(value_dtype,
                      {.name = "value.dtype",
                       .scope = {.variants = Scope::Variants::contiguous, .dtypes = Scope::Dtypes::every},
                       .quick = true,
                       .judge = &judge});

}  // namespace
}  // namespace opgate::value_dtype
