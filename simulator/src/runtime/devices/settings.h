// What environment variables say about the simulated devices. They are read once, when the first CUDA
// function is called; if one has a value that is not allowed, or a name that is unknown, the process reports
// it and ends. environment/setting.h has their table, with the defaults. Those that say how kernels are
// executed are read where kernels are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <opgate_sim/schedule.h>
#include "watch/tools.h"

namespace opgate::simulator {

struct Settings {
  int devices = 0;               ///< 1 to 8
  unsigned architecture = 0;     ///< the compute capability without its dot
  std::size_t memory_bytes = 0;  ///< of each device
  bool eager = false;
  unsigned char fill = 0;
  std::uint64_t instruction_limit = 0;  ///< 0: none
  std::uint64_t shuffle = 0;            ///< 0 if there is a schedule
  std::vector<LaunchSchedule> schedule;
  std::uint64_t late_stores = 0;  ///< a seed; 0: stores are visible at once
  bool log = false;
  bool recover = false;
  bool aten_at_once = false;
  Tools tools;
  bool autotunes_all = false;
};

/// Ends the process with exit status 2 if there are wrong_settings().
const Settings& settings();

/// What is wrong with the variables, and what they may be: "OPGATE_SIM_FILL=256: give a number from 0 to
/// 255".
std::vector<std::string> wrong_settings();

}  // namespace opgate::simulator
