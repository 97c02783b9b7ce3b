#include "spec/subject_facts.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

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

}  // namespace

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
