// The time that the calls of an earlier run took, which predicts where the next run will spend its time.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

#include "plan/calls.h"

namespace opgate {

/// The cost of all calls of one operator on one device, including the packages that were made for them.
struct Cost {
  double seconds = 0;
  size_t calls = 0;
};

/// By OP/DEVICE.
using Costs = std::map<std::string, Cost>;

std::string cost_key(const Spec& spec, const std::string& device);

/// Adds `more`, the costs of another shard of the same run, to `costs`.
void add(const Costs& more, Costs& costs);

/// SHA-1 over the costs: with equal digests, every machine shards a plan in the same way.
std::string digest(const Costs& costs);

void to_json(nlohmann::json& json, const Cost& cost);
void from_json(const nlohmann::json& json, Cost& cost);

}  // namespace opgate
