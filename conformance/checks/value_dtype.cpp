// value.dtype: the dtypes accepted on each device are exactly the declared ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "base/dtypes.h"
#include "checks/check.h"

namespace opgate::value_dtype {
namespace {

// C++ messages say Int or BFloat16, Python ones torch.int32: as a word of its own, or "point" would name int.
bool names_dtype(const std::string& message, c10::ScalarType dtype) {
  // By its number where torch's stable ABI refuses it, before the operator's own code: "ScalarType 18".
  const std::regex name(fmt::format("\\b({}|{}|ScalarType {})\\b", c10::toString(dtype), dtype_name(dtype),
                                    static_cast<int>(dtype)),
                        std::regex::icase);
  return std::regex_search(message, name);
}

Judgement judge(Evidence& evidence) {
  const CallKey& key = evidence.key();
  const Outcome& call = evidence.observed().outcome;
  const Dtypes& declared = key.spec->dtypes.at(key.device);
  const std::string_view dtype = dtype_name(key.dtype);
  const auto name = [](c10::ScalarType d) { return dtype_name(d); };
  std::vector<std::string_view> names(declared.size());
  std::ranges::transform(declared, names.begin(), name);
  const std::string promised = fmt::format("on {} exactly these dtypes are accepted: {}",
                                           device_name(key.device), fmt::join(names, ", "));
  if (std::ranges::find(declared, key.dtype) != declared.end()) {
    if (call.ok()) return Judgement::pass();
    return Judgement::fail(
        {promised,
         fmt::format("{} is refused: {}", dtype, call.raised->message),
         "no kernel for this dtype: widen the kernel's dtype dispatch, or take it out of the spec",
         {}});
  }
  if (call.ok()) {
    return Judgement::fail({promised,
                            fmt::format("{} is accepted, and something is computed", dtype),
                            "the kernel has no check of the dtype; raise an error that names it, or declare "
                            "it in the spec and let it be tested",
                            {}});
  }
  if (names_dtype(call.raised->message, key.dtype)) return Judgement::pass();
  return Judgement::fail({promised + "; another raises an error that names the dtype",
                          fmt::format("{} is refused without being named: {}", dtype, call.raised->message),
                          fmt::format("say what was given, for example \"x must be Float or Double, got {}\"",
                                      c10::toString(key.dtype)),
                          {}});
}

OPGATE_REGISTER_CHECK(
    value_dtype,
    {.name = "value.dtype",
     .explanation =
         {.promise = "The dtypes accepted on each device are exactly the declared ones; another "
                     "raises and is named.",
          .why = "A dtype that slips through is computed by accident: read as something else, or "
                 "right on one device and refused on the other, which is found in production.",
          .fix = "Check the dtype first, on every device alike, or use AT_DISPATCH_*, which raises "
                 "\"not implemented for 'Int'\".",
          .example = "torchvision's roi_pool with int32 and int64 inputs; a CPU kernel that takes "
                     "int, bool and complex which its CUDA twin refuses.",
          .wrong = R"(const at::Tensor dense = x.contiguous();
const auto* from = static_cast<const float*>(dense.const_data_ptr());  // Half is read in pairs)",
          .right =
              R"(TORCH_CHECK(x.scalar_type() == at::kFloat, "x must be Float, got ", x.scalar_type());
const at::Tensor dense = x.contiguous();
const auto* from = dense.const_data_ptr<float>();  // would refuse another dtype, too)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .dtypes = Scope::Dtypes::every},
     .judge = &judge});

}  // namespace
}  // namespace opgate::value_dtype
