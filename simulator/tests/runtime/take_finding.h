// What a tool has found.
#pragma once

#include <string>

#include <opgate_sim.h>

namespace simulated {

/// The oldest finding as a line of JSON; empty if there is none.
inline std::string take_finding() {
  std::string line(4096, '\0');
  line.resize(opgate_sim_take_finding(line.data(), line.size()));
  return line;
}

}  // namespace simulated
