// What a table shows of several cases: one cell, on the terminal and in reports.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "judging/verdict.h"

namespace opgate {

struct VerdictCounts {
  std::array<size_t, 6> by_verdict{};  ///< indexed by Verdict
  size_t by_evidence = 0;              ///< of those that passed: on another machine

  size_t of(Verdict verdict) const { return by_verdict[static_cast<size_t>(verdict)]; }
  void add(const Judgement& judgement);
  void add(const VerdictCounts& others);

  /// The verdict that the cell shows: the worst one. What did not end counts as failed.
  Verdict worst() const;
};

/// "ok", "FAIL 12", "CRASH 1", "spec? 3" (invalid), "owed" (not run here), "ok*" if another machine gave a
/// verdict.
std::string cell_text(const VerdictCounts& counts);

}  // namespace opgate
