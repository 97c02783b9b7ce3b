#include "run/run_header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "spec/schema/function_name.h"

namespace opgate {

std::map<std::string, double> RunHeader::accuracy() const {
  std::map<std::string, double> ulps;
  for (const auto& [id, facts] : subjects) {
    if (facts.accuracy && facts.accuracy->ulps) ulps[id] = *facts.accuracy->ulps;
  }
  return ulps;
}

std::map<std::string, std::string> RunHeader::ids_of_operators() const {
  std::map<std::string, std::string> ids;
  for (const auto& [id, facts] : subjects) {
    if (!facts.schema.empty()) ids[std::string(name_in_schema(facts.schema))] = id;
  }
  return ids;
}

std::string RunHeader::difference(const RunHeader& other) const {
  const auto differs = [](std::string_view what, const std::string& mine, const std::string& theirs) {
    return mine == theirs ? "" : fmt::format("{} ({} and {})", what, mine, theirs);
  };
  std::string first;
  for (const std::string& difference :
       {differs("version of OpGate", opgate, other.opgate), differs("torch", torch, other.torch),
        differs("plan", plan, other.plan), differs("build of the libraries", libraries, other.libraries),
        differs("build of OpGate", engine, other.engine),
        differs("vector instructions", capability, other.capability),
        differs("GPU", nlohmann::json(devices).dump(), nlohmann::json(other.devices).dump()),
        differs("costs that the shards are cut by", costs, other.costs),
        differs("samples", samples, other.samples)}) {
    if (first.empty()) first = difference;
  }
  return first;
}

}  // namespace opgate
