#include "checks/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "checks/outputs.h"
#include "layouts/layout.h"

namespace opgate {
namespace {

constexpr std::array kKernels{c10::DispatchKey::CPU,
                              c10::DispatchKey::CUDA,
                              c10::DispatchKey::Meta,
                              c10::DispatchKey::Autograd,
                              c10::DispatchKey::AutogradCPU,
                              c10::DispatchKey::AutogradCUDA,
                              c10::DispatchKey::Autocast,
                              c10::DispatchKey::CompositeExplicitAutograd,
                              c10::DispatchKey::FuncTorchBatched,
                              c10::DispatchKey::CompositeImplicitAutograd};
constexpr size_t kDigits = 16;  ///< of a digest: a change goes unseen once in 2^64

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

CallFacts facts_of(Evidence& evidence) {
  const Outcome& outcome = evidence.observed().outcome;
  if (!outcome.ok()) return {{"raises"}, ""};
  CallFacts facts;
  for (const at::Tensor& tensor : outcome.returned()) facts.outputs.push_back(metadata(tensor));
  const CallKey& key = evidence.key();
  if (key.variant == kContiguous && key.spec->promised(Promise::deterministic))
    facts.bits = digest(outcome.values()).substr(0, kDigits);
  return facts;
}

SubjectFacts facts_of(const Spec& spec) {
  SubjectFacts facts;
  facts.schema = spec.schema;
  for (const c10::DispatchKey key : kKernels) {
    if (spec.op && spec.op->hasKernelForDispatchKey(key)) facts.kernels.emplace_back(c10::toString(key));
  }
  for (const Promise promise : spec.promises) facts.promises.emplace_back(to_string(promise));
  std::ranges::sort(facts.promises);
  if (spec.accuracy && !spec.accuracy->exact) facts.ulps = spec.accuracy->ulps;
  facts.where = spec.where;
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

void to_json(nlohmann::json& json, const SubjectFacts& facts) {
  json = {{"schema", facts.schema},
          {"kernels", facts.kernels},
          {"promises", facts.promises},
          {"where", facts.where},
          {"sources", facts.sources}};
  if (facts.ulps) json["ulps"] = *facts.ulps;
}

void from_json(const nlohmann::json& json, SubjectFacts& facts) {
  json.at("schema").get_to(facts.schema);
  json.at("kernels").get_to(facts.kernels);
  json.at("promises").get_to(facts.promises);
  json.at("where").get_to(facts.where);
  json.at("sources").get_to(facts.sources);
  if (json.contains("ulps")) facts.ulps = json.at("ulps").get<double>();
}

}  // namespace opgate
