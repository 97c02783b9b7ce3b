#include "plan/filter.h"

#include <nlohmann/json.hpp>

namespace opgate {

void to_json(nlohmann::json& json, const Filter& filter) {
  json = {{"ops", filter.ops},
          {"checks", filter.checks},
          {"devices", filter.devices},
          {"cases", filter.cases},
          {"planted", filter.planted}};
  if (!filter.order.empty()) json["order"] = filter.order;
  if (filter.simulated) json["simulated"] = true;
  if (!filter.keywords.empty()) json["keywords"] = filter.keywords;
}

void from_json(const nlohmann::json& json, Filter& filter) {
  json.at("ops").get_to(filter.ops);
  json.at("checks").get_to(filter.checks);
  json.at("devices").get_to(filter.devices);
  json.at("cases").get_to(filter.cases);
  json.at("planted").get_to(filter.planted);
  filter.order = json.value("order", "");
  filter.simulated = json.value("simulated", false);
  filter.keywords = json.value("keywords", "");
}

}  // namespace opgate
