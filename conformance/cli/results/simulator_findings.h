// What the simulated devices found wrong with a program, as OPGATE_SIM_REPORT tells it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace opgate {

/// Findings of one tool at one place of the source; the first stands for all.
struct SimulatorFinding {
  std::string tool;      ///< memory, api, race, ...
  std::string text;      ///< what is wrong, with the block and the thread
  std::string error;     ///< the CUDA error that the program saw; may be empty
  std::string kernel;    ///< empty where it was no kernel
  std::string location;  ///< "twice.cu:41"; may be empty
  std::string
      other;  ///< of a race: "st.shared.f32 at twice.cu:39 (block 0,0,0, thread 3,0,0)"; otherwise empty
  size_t count = 0;
};

struct SimulatorReport {
  std::vector<SimulatorFinding> findings;  ///< in the order in which they first appeared
  std::vector<std::string> unsupported;    ///< what the program asked for and is not simulated; each once
  size_t processes = 0;                    ///< how many processes used a device
};

/// Reads the lines of a report; findings of tools that are not wanted are left out. Throws SetupError where the file cannot
/// be read.
SimulatorReport read_simulator_report(const std::filesystem::path& file, const std::set<std::string>& tools);

/// For people: some lines for each finding.
std::string describe(const SimulatorReport& report);

}  // namespace opgate
