// The environment variables of the simulator: one table, by which they are read and listed. docs/simulator.md
// has the same rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opgate::simulator {

enum class Setting : std::uint8_t {
  approximate,
  arch,
  aten_at_once,
  autotune,
  cache,
  cc,
  compare,
  compile,
  devices,
  eager,
  fill,
  host_memory,
  instructions,
  late_stores,
  log,
  memory,
  ptxas,
  recover,
  report,
  schedule,
  shuffle,
  threads,
  tools,
};

constexpr const char* kSettingPrefix = "OPGATE_SIM_";

/// With the prefix.
std::string name_of(Setting setting);

/// Its value if the variable is missing or empty.
std::string default_of(Setting setting);

/// What the environment gives, or the default.
std::string value_of(Setting setting);

/// "OPGATE_SIM_FILL=256", as messages begin.
std::string assignment(Setting setting);

/// Without the prefix, in the order of the table.
std::vector<std::string> names_of_settings();

}  // namespace opgate::simulator
