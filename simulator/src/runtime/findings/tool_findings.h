// What the tools of OPGATE_SIM_TOOLS have found, until the program that runs the simulation takes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <opgate_sim/finding.h>

namespace opgate::simulator::tool_findings {

/// Keeps the findings of one launch, and writes them where OPGATE_SIM_REPORT and OPGATE_SIM_LOG say.
void keep(std::vector<Finding> findings);

/// The oldest finding as a line of JSON, which stays.
std::optional<std::string> oldest();
void remove_oldest();

/// Removes all of them.
void forget();

}  // namespace opgate::simulator::tool_findings
