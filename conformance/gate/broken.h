// What is broken in a run, as the gate sees it: one entry for the cases of an operator, a device and a check.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "judging/verdict.h"

namespace opgate {

/// The cases of one operator, device and check that neither passed nor are owed: the first, and how many
/// others.
struct Broken {
  std::string case_id;
  Judgement judgement;
  size_t others = 0;
  /// Hashes of the id and verdict of each case, because a million ids would take too much memory.
  std::set<size_t> cases = {};
  std::set<std::string> dtypes = {};
  std::string defect = {};  ///< the id of the defect that the first case belongs to; may be empty
  bool shows_best = false;  ///< the example of the defect is of this group's check

  static size_t hash_of(std::string_view case_id, Verdict verdict);
};

}  // namespace opgate
