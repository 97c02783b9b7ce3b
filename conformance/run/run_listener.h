// What happens while a plan runs, for whatever takes part in it: the journal, the tally, the progress that is
// shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/calls.h"

namespace opgate {

struct CallFacts;
struct Judgement;

/// A case and its verdict, as it comes.
struct JudgedCase {
  const std::string& id;
  const Judgement& judgement;
  /// Its place in the plan, if a worker has judged it; evidence from another machine has not run here.
  std::optional<Calls::Position> call = {};
  const Check* check = nullptr;
};

class RunListener {
 public:
  virtual ~RunListener() = default;

  virtual void on_verdict(const JudgedCase& judged) = 0;
  /// What the call has returned.
  virtual void on_facts(const std::string& call_id, const CallFacts& facts) {
    static_cast<void>(call_id);
    static_cast<void>(facts);
  }
  /// Comes about every 50 ms, with what each busy worker works on.
  virtual void on_progress(const std::vector<std::string>& current) { static_cast<void>(current); }
  /// Whether the run is to end early, with what has been judged so far.
  virtual bool is_stopped() const { return false; }
};

}  // namespace opgate
