// An operator that calls another one through the dispatcher, or shares a function with it, shows the defects
// of that one, too.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "defects/symptoms.h"

namespace opgate {

/// Broken cases of one operator on one device that have one cause.
struct CasesOfDefect {
  const BrokenCase* root = nullptr;
  std::vector<const BrokenCase*> cases;
  std::vector<const BrokenCase*> of_callers = {};  ///< of operators that call this one
  std::vector<const BrokenCase*> of_sharing = {};  ///< of others that are wrong at the same line
};

/// The defects of the operators of one device, by operator; `called` has the operators that each one calls,
/// directly or not. Moves what an operator shows as well as one that it calls to the latter's defect.
void move_to_called_operators(std::map<std::string, std::vector<CasesOfDefect>>& defects,
                              const std::map<std::string, std::set<std::string>>& called);

/// What several operators show at one line of one function is one defect, of the first of them by name: a
/// crash, or an argument whose layout is ignored.
void move_to_shared_lines(std::map<std::string, std::vector<CasesOfDefect>>& defects);

}  // namespace opgate
