// A case that is neither pass nor owed, taken apart for the comparison with others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inputs/damage.h"
#include "judging/verdict.h"

namespace opgate {

inline constexpr std::string_view kCrashFault = "crash";
inline constexpr std::string_view kTimeoutFault = "timeout";
inline constexpr std::string_view kSpecFault = "spec";

struct BrokenCase {
  std::string id;
  std::string op, dtype, sample, variant, device, check;  ///< the parts of the id
  std::optional<InputDamage> damage;                      ///< what the variant says of a bad input
  std::string damaged_argument;  ///< without the index of an entry; empty if there is no damage
  Judgement judgement;
  /// What the finding says; for a check that says nothing, its own id. For a crash or timeout: where in the
  /// operator it happened, "SIGFPE in rows_for_each". For an invalid verdict: the reason.
  Fault fault;

  /// Throws SetupError for what is not the id of a case.
  BrokenCase(std::string case_id, Judgement said);

  bool is_crash() const {
    return judgement.verdict == Verdict::crash || judgement.verdict == Verdict::timeout;
  }
  /// For a crash or timeout: "SIGFPE", "no answer".
  std::string_view how_it_ended() const;
  /// For a crash or timeout with a stack: the operator's two innermost functions, without template arguments.
  std::vector<std::string> innermost_functions() const;
  /// Whether a bad input gives a tensor another rank or other sizes.
  bool has_bad_sizes() const { return damage && damage->is_of_sizes(); }
  bool differs_in_values() const { return fault.differs == "values"; }
  /// Whether the fault is that memory is read or written which is not the operator's, or not yet written.
  bool is_of_memory() const;
  /// What cases of one cause have in common, where nothing explains them: the fault without numbers, and
  /// without what only says where it was seen.
  std::pair<std::string, std::string> group() const;

 private:
  void set_variant(std::string_view text);
};

}  // namespace opgate
