#include "spec/json/bench_json.h"

#include <opgate/bench.h>
#include <map>
#include <nlohmann/json.hpp>

#include "spec/json/sample_json.h"

namespace opgate {

using nlohmann::json;

namespace {

// Calls `word`, .forward or .backward of a BenchWriter, for each limit.
void limit(const json& by_device, const auto& word) {
  for (const auto& [device, ratio] : by_device.get<std::map<std::string, double>>()) {
    if (device == "all") {
      word(ratio);
    } else {
      word(known_device(device), ratio);
    }
  }
}

}  // namespace

Bench bench_from_json(const json& described) {
  Bench bench;
  bench.sample = sample_from_json(described);
  BenchWriter writer(bench);
  writer.dtype(known_dtype(described.at("dtype")));
  if (const std::string against = described.at("against"); !against.empty()) writer.against(against);
  limit(described.at("forward"), [&](auto... words) { writer.forward(words...); });
  limit(described.at("backward"), [&](auto... words) { writer.backward(words...); });
  return bench;
}

}  // namespace opgate
