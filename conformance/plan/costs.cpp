#include "plan/costs.h"

#include <c10/util/hash.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "spec/spec.h"

namespace opgate {

std::string cost_key(const Spec& spec, const std::string& device) {
  return fmt::format("{}/{}", spec.id, device);
}

void add(const Costs& more, Costs& costs) {
  for (const auto& [key, cost] : more) {
    Cost& sum = costs[key];
    sum.seconds += cost.seconds;
    sum.calls += cost.calls;
  }
}

std::string digest(const Costs& costs) { return c10::sha1(nlohmann::json(costs).dump()).str(); }

void to_json(nlohmann::json& json, const Cost& cost) { json = {cost.seconds, cost.calls}; }

void from_json(const nlohmann::json& json, Cost& cost) {
  json.at(0).get_to(cost.seconds);
  json.at(1).get_to(cost.calls);
}

}  // namespace opgate
