// The verdict of a check on one case, and the finding that explains a failure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgate {

/// There is no "skip". `owed`: the case is planned but not run here, because this machine lacks what it
/// needs, or because one worker after another died of the operator. `invalid`: the spec or its sample is
/// wrong, not the operator.
enum class Verdict { pass, fail, crash, timeout, owed, invalid };

std::string_view to_string(Verdict verdict);

/// Whether something is wrong: with the operator, or with its spec.
inline bool is_broken(Verdict verdict) { return verdict != Verdict::pass && verdict != Verdict::owed; }

/// Throws std::invalid_argument for another word.
Verdict verdict_from_string(std::string_view text);

/// What was seen to be wrong, in a form that can be compared: where two checks see one mistake of an
/// operator, their findings agree in it.
struct Fault {
  std::string kind;   ///< one of judging/fault.h; empty: what the check itself is about
  std::string about;  ///< the argument, message or setting that it concerns; may be empty
  /// Where results were compared: "values", or "metadata" where the shape, the dtype or the number of tensors
  /// differs.
  std::string differs = {};
  /// The mistake that an experiment has shown: "`x` is read as if it were dense: its strides are ignored".
  /// Names the defect.
  std::string cause = {};
  /// The check and the variant of the call that shows it, where they are not those of the case:
  /// explore.samples asks other checks about samples of its own.
  std::string check = {}, variant = {};

  bool operator==(const Fault&) const = default;
};

/// A broken promise, in words that let a reader who does not know OpGate fix the operator. Except `detail`,
/// each text is a clause in lower case without a final period.
struct Finding {
  std::string promised;     ///< "the same result whatever the layout of `x`"
  std::string happened;     ///< what differs, how much, where first
  std::string likely = {};  ///< the cause, where the engine could tell; may be empty
  Fault fault = {};
  /// Further lines, shown as they are: neighbouring elements, schemas ...
  std::vector<std::string> detail = {};
  /// The end of `happened` after ": ", if other calls show the same fault with another end: "where one
  /// element is -1, ...". Notes name such calls together.
  std::string here = {};

  /// `happened` without `here`.
  std::string shared() const;

  bool operator==(const Finding&) const = default;
};

/// What gave a verdict: a run of this machine, or the kept evidence of a run on another one, which `reason`
/// names.
enum class GivenBy { run, evidence };

struct Judgement {
  Verdict verdict = Verdict::pass;
  std::optional<Finding> finding = {};  ///< where a promise is broken; of a pass: a note
  std::string reason = {};              ///< for owed, invalid, crash, timeout: why; for a pass: a note
  double worst_ulps = 0;                ///< the largest error of an element, in ulps; only of a pass
  /// The operator's calls, the innermost first: for crash and timeout where it was, for a layout that is
  /// ignored where it reads the argument.
  std::vector<std::string> stack = {};
  std::string uncaught = {};  ///< for crash: the exception that was not caught and ended the process
  /// For crash: how the process ended or the device failed, alike for all of one kind: "SIGFPE".
  std::string ended = {};
  /// The end of `reason`: what failed, was printed last, a limit, why evidence is void.
  std::string remarks = {};
  GivenBy given_by = GivenBy::run;
  /// Where a call that is not the case's shows what is wrong: its check, dtype, variant and sample, as a JSON
  /// object with these words.
  std::string example = {};
  /// For owed: whether the same case is planned on the simulated device. It is not counted as owed a second
  /// time.
  bool asked_on_simulator = false;

  /// Appends to the reason.
  void add_remark(const std::string& remark);
  std::string reason_without_remarks() const;

  static Judgement pass(double worst_ulps = 0) {
    return {.verdict = Verdict::pass, .worst_ulps = worst_ulps};
  }
  /// A pass of which the author should know something: what a draft does not promise and the operator lacks.
  static Judgement note(std::string reason) {
    return {.verdict = Verdict::pass, .reason = std::move(reason)};
  }
  /// A pass with a finding: what is likely a fault, and nobody has promised the contrary.
  static Judgement note(Finding finding) { return {.verdict = Verdict::pass, .finding = std::move(finding)}; }
  static Judgement fail(Finding finding) { return {.verdict = Verdict::fail, .finding = std::move(finding)}; }
  static Judgement invalid(std::string reason) {
    return {.verdict = Verdict::invalid, .reason = std::move(reason)};
  }
  /// A process has ended, or the device has failed, while it made the call.
  static Judgement crash(std::string reason, std::string ended) {
    return {.verdict = Verdict::crash, .reason = std::move(reason), .ended = std::move(ended)};
  }
  static Judgement owed(std::string reason, bool asked_on_simulator = false) {
    return {.verdict = Verdict::owed, .reason = std::move(reason), .asked_on_simulator = asked_on_simulator};
  }
  static Judgement pass_by_evidence(std::string reason) {
    Judgement judgement = note(std::move(reason));
    judgement.given_by = GivenBy::evidence;
    return judgement;
  }
};

void to_json(nlohmann::json& json, const Judgement& judgement);
void from_json(const nlohmann::json& json, Judgement& judgement);

}  // namespace opgate
