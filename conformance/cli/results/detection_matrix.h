// The results of `opgate selftest`: which checks find which planted defect, and whether any flags a correct
// twin.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "defects/defect.h"
#include "judging/check.h"
#include "judging/verdict.h"
#include "run/run_listener.h"

namespace opgate {

class DetectionMatrix : public RunListener {
 public:
  /// `planned` are those of `subjects` that are run. Throws SetupError if the twin of a defect has no spec or
  /// is a defect itself, or if a defect is planted for a check that is not among `checks`. Every verdict of
  /// the checks named in `blind` counts as a pass.
  DetectionMatrix(const std::vector<Spec>& subjects, const std::vector<const Spec*>& planned,
                  const std::vector<Check>& checks, std::vector<std::string> blind);

  size_t defects() const { return defects_.size(); }
  size_t twins() const { return twins_.size(); }

  void on_verdict(const JudgedCase& judged) override;

  /// One line for each defect: "found", or "sim" where only the simulated device showed it; the check that it
  /// was planted for, opcheck's verdict, and the other checks that find it.
  std::string table() const;

  /// A line for each defect that escaped, and a paragraph for each finding about a correct twin. `options`
  /// go into the commands that findings end with: " --config my.toml".
  std::string faults(const std::string& options) const;

  /// "64 of 64 defects found by the check they were planted for, 5 of them on the simulated device, 41 not
  /// found by opcheck; 60 of 60 correct twins not flagged by any check; 6 defects owed: ..."
  std::string summary() const;

  /// As how many defects the planted ones are shown: "180 of 190 as one defect, 1.04 on average", after a
  /// line for each that is shown as several. One that escaped is not counted.
  std::string groups() const;

  /// True if every defect is found by its check (or owed, because the check could not run here), and every
  /// case of the twins passes or is owed.
  bool holds() const;

 private:
  struct Planted {
    std::string check;
    std::map<std::string, size_t, std::less<>> judged;  // verdicts that are not owed, by check
    std::set<std::string, std::less<>> found_by;
    size_t owed = 0;              // number of owed cases of its check
    bool found_by_a_run = false;  // its check found it on a device that is not simulated

    bool is_found() const { return found_by.contains(check); }
    bool is_simulated() const { return is_found() && !found_by_a_run; }
    bool is_owed() const { return !judged.contains(check) && owed > 0; }
    std::string opcheck() const;
  };
  struct Complaint {
    std::string case_id;
    Judgement judgement;
  };
  size_t count(bool (Planted::*property)() const) const;

  std::vector<std::string> blind_;
  std::map<std::string, Planted, std::less<>> defects_;
  Defects seen_;  // what is broken of them, sorted by causes
  std::map<std::string, std::vector<Complaint>, std::less<>> twins_;  // the first complaint of each check
  std::string owed_reason_;
};

}  // namespace opgate
