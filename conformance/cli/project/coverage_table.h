// What each operator of the project has: a spec, samples, kernels, and whether opcheck looks at it.
#pragma once

#include <string>
#include <vector>

namespace opgate {

struct Plan;
struct Project;

/// One line for each operator that the libraries and modules define, or that has a spec, and a line with the
/// number of those that are not covered. `ops` are patterns of names; empty for all. Throws SetupError if a
/// pattern matches no operator.
std::string coverage_table(const Project& project, const Plan& plan, const std::vector<std::string>& ops);

}  // namespace opgate
