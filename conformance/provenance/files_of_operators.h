// Which files of a project are those of some operators, and not of others.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/config.h"
#include "spec/registration.h"

namespace opgate {

struct Spec;

/// The files of the project, relative to the folder of opgate.toml, that belong to operators that are not
/// `chosen` and to none that is: those that the compiler read for the former alone. Where it read the same
/// files for all (their specs lie in one folder), or the build is not known, they are the files that define
/// the former alone or register their kernels. What `sources` of opgate.toml names is shared by all
/// operators, and is among them. `registered` is what a process with Python modules has; an operator that is
/// missing there is as in this process.
std::set<std::string> files_of_others(const Config& config, const std::vector<std::string>& libraries,
                                      const std::vector<Spec>& subjects, const OpRegistrations& registered,
                                      const std::vector<bool>& chosen);

}  // namespace opgate
