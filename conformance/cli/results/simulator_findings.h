// What the simulated devices found wrong with a program, as OPGATE_SIM_REPORT has it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <opgate_sim/finding.h>

namespace opgate {

struct SimulatorReport {
  /// In the order in which they first appeared. Those of one tool at one place of the source are one: the
  /// first stands for all.
  std::vector<simulator::Finding> findings;
  /// For each finding, the tests of pytest in which it appeared; none if the program is no pytest.
  std::vector<std::vector<std::string>> tests;
  std::vector<std::string> unsupported;  ///< what the program asked for and is not simulated; each once
  size_t processes = 0;                  ///< how many processes used a device
  std::set<std::string> followed;        ///< the parts of a schedule that launches have followed
};

/// Reads the lines of a report; findings of tools that are not wanted are left out. Throws SetupError if the
/// file cannot be read.
SimulatorReport read_simulator_report(const std::filesystem::path& file, const std::set<std::string>& tools);

/// The order of blocks and warps that shows a finding which others do not show.
struct OrderOfFinding {
  std::string words;   ///< for people; empty if only the command is known
  std::string repeat;  ///< the command that shows the finding again
};

/// By the number of the finding in its report.
using OrdersOfFindings = std::map<size_t, OrderOfFinding>;

/// For people: some lines for each finding.
std::string describe(const SimulatorReport& report, const OrdersOfFindings& orders = {});

}  // namespace opgate
