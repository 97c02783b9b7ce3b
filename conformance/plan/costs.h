// What the calls of an earlier run took, as far as it says where the next one will spend its time.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

#include "plan/calls.h"

namespace opgate {

/// Of all calls of one operator on one device, with everything that was done for them.
struct Cost {
  double seconds = 0;
  size_t calls = 0;
};

/// By OP/DEVICE.
using Costs = std::map<std::string, Cost>;

std::string cost_key(const Spec& spec, c10::DeviceType device);

/// Adds those of another part of the same run.
void add(const Costs& more, Costs& costs);

/// SHA-1: equal where they cut a plan alike.
std::string digest(const Costs& costs);

void to_json(nlohmann::json& json, const Cost& cost);
void from_json(const nlohmann::json& json, Cost& cost);

}  // namespace opgate
