#include "judging/call_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "judging/output_judgement.h"
#include "layouts/layout.h"

namespace opgate {
namespace {

constexpr size_t kDigits = 16;  ///< hexadecimal digits that are kept: a change is missed once in 2^64

std::string metadata(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  std::string strides;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (dim > 0) strides += ", ";
    strides += tensor.numel() == 0 || tensor.size(dim) < 2 ? "-" : std::to_string(tensor.stride(dim));
  }
  std::string text = fmt::format("{} [{}] strides ({})", dtype_name(tensor.scalar_type()),
                                 fmt::join(tensor.sizes(), ", "), strides);
  if (tensor.storage_offset() != 0) text += fmt::format(" offset {}", tensor.storage_offset());
  return text;
}

}  // namespace

CallFacts facts_of(CallUnderTest& under_test) {
  const Outcome& outcome = under_test.observed().outcome;
  if (!outcome.ok()) return {{"raises"}, ""};
  CallFacts facts;
  for (const at::Tensor& tensor : outcome.returned()) facts.outputs.push_back(metadata(tensor));
  const CallKey& key = under_test.key();
  if (key.variant == kContiguous && key.spec->promised(Promise::deterministic))
    facts.bits = digest(outcome.values()).substr(0, kDigits);
  return facts;
}

void to_json(nlohmann::json& json, const CallFacts& facts) {
  json = {{"outputs", facts.outputs}};
  if (!facts.bits.empty()) json["bits"] = facts.bits;
}

void from_json(const nlohmann::json& json, CallFacts& facts) {
  json.at("outputs").get_to(facts.outputs);
  facts.bits = json.value("bits", "");
}

}  // namespace opgate
