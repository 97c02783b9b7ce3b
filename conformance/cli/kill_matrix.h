// What the planted defects came to: which checks convict which defect, and that no correct twin is convicted.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <opgate/spec.h>
#include "checks/check.h"
#include "checks/verdict.h"

namespace opgate {

class KillMatrix {
 public:
  /// Of all `subjects`, `planned` are run. Throws SetupError where the twin of one has no spec or is planted
  /// itself, or where one is planted for a check that is not among `checks`.
  KillMatrix(const std::vector<Spec>& subjects, const std::vector<const Spec*>& planned,
             const std::vector<Check>& checks);

  size_t defects() const { return defects_.size(); }
  size_t twins() const { return twins_.size(); }

  void add(std::string_view case_id, const Judgement& judgement);

  /// A line a defect: the check it was planted for, opcheck's verdict, what else convicts it.
  std::string table() const;

  /// A paragraph for each twin that did not pass, and each defect that escaped.
  std::string faults(const std::string& options) const;

  /// "64 of 64 defects convicted by their check, 41 of them pass opcheck; 60 twins pass; 6 defects owed
  /// (...)"
  std::string summary() const;

  /// Every defect whose check could run is convicted by it, and no twin has any verdict but pass and owed.
  bool holds() const;

 private:
  struct Defect {
    std::string check;
    std::map<std::string, size_t, std::less<>> judged;  // verdicts that are not owed, by check
    std::set<std::string, std::less<>> convicted_by;
    size_t owed = 0;  // cases of its check

    bool convicted() const { return convicted_by.contains(check); }
    bool is_owed() const { return !judged.contains(check) && owed > 0; }
    std::string opcheck() const;
  };
  struct Complaint {
    std::string case_id;
    Judgement judgement;
  };
  size_t count(bool (Defect::*property)() const) const;

  std::map<std::string, Defect, std::less<>> defects_;
  std::map<std::string, std::vector<Complaint>, std::less<>> twins_;  // the first complaint of each check
  std::string owed_reason_;
};

}  // namespace opgate
