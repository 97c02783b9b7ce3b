#include "judging/calls/call_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "compare/agreement.h"
#include "compare/value_summary.h"
#include "judging/comparison/trivial_answers.h"
#include "layouts/layout.h"
#include "spec/spec.h"

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

std::vector<at::Tensor> specified(std::vector<at::Tensor> tensors, const std::set<size_t>& unspecified) {
  for (const size_t i : unspecified) {
    if (i < tensors.size()) tensors[i] = at::Tensor();
  }
  return tensors;
}

std::vector<std::string> summaries(const std::vector<at::Tensor>& tensors) {
  std::vector<std::string> texts;
  for (const at::Tensor& tensor : tensors)
    texts.push_back(tensor.defined() ? to_text(summary_of(tensor)) : "");
  return texts;
}

std::optional<std::vector<std::string>> trivial_answers(CallUnderTest& under_test) {
  const auto has_elements = [](const at::Tensor& tensor) { return tensor.defined() && tensor.numel() > 0; };
  if (std::ranges::none_of(under_test.observed().outcome.values(), has_elements)) return std::nullopt;
  try {
    return trivial_answers_that_pass(under_test);
  } catch (const SpecError&) {
    return std::nullopt;  // the scale of the accuracy is wrong, which each check that needs it reports
  }
}

}  // namespace

CallFacts facts_of(CallUnderTest& under_test) {
  const Outcome& outcome = under_test.observed().outcome;
  if (!outcome.ok()) return {{"raises"}, ""};
  CallFacts facts;
  facts.called = under_test.observed().called;
  facts.called.erase(c10::toString(under_test.key().spec->op->operator_name()));
  for (const at::Tensor& tensor : outcome.returned()) facts.outputs.push_back(metadata(tensor));
  const CallKey& key = under_test.key();
  if (key.variant != kContiguous) return facts;
  if (key.spec->promised(Promise::deterministic)) facts.bits = digest(outcome.values()).substr(0, kDigits);
  if (key.spec->promised(Promise::nondeterministic_seeded)) return facts;
  facts.values = summaries(compared_results(under_test));
  if (const Outcome* reference = under_test.known_reference(); reference != nullptr && reference->ok()) {
    facts.reference = summaries(specified(reference->returned(), outcome.tensors_of(key.spec->unspecified)));
    facts.trivial = trivial_answers(under_test);
  }
  return facts;
}

std::vector<at::Tensor> compared_results(CallUnderTest& under_test) {
  const Outcome& outcome = under_test.observed().outcome;
  return specified(outcome.values(), outcome.tensors_of(under_test.key().spec->unspecified));
}

void to_json(nlohmann::json& json, const CallFacts& facts) {
  json = {{"outputs", facts.outputs}};
  if (!facts.bits.empty()) json["bits"] = facts.bits;
  if (!facts.values.empty()) json["values"] = facts.values;
  if (!facts.reference.empty()) json["reference"] = facts.reference;
  if (facts.trivial) json["trivial"] = *facts.trivial;
  if (!facts.called.empty()) json["called"] = facts.called;
}

void from_json(const nlohmann::json& json, CallFacts& facts) {
  json.at("outputs").get_to(facts.outputs);
  facts.bits = json.value("bits", "");
  facts.values = json.value("values", std::vector<std::string>());
  facts.reference = json.value("reference", std::vector<std::string>());
  if (json.contains("trivial")) facts.trivial = json.at("trivial").get<std::vector<std::string>>();
  facts.called = json.value("called", std::set<std::string>());
}

}  // namespace opgate
