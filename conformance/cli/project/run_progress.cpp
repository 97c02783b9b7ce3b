#include "cli/project/run_progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "judging/verdict.h"
#include "plan/case_parts.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr size_t kKnownFrom = 10;  // a lane's speed is known when 1 of so many of its cases has been judged

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

RunProgress::RunProgress(const Calls& calls, const CaseSet& todo, size_t known, Verbosity verbosity)
    : calls_(calls),
      is_quiet_(verbosity == Verbosity::quiet),
      done_(known),
      known_(known),
      total_(known + todo.size()) {
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    for (const Check* check : todo.of(call)) ++lane_of(call, *check).total;
  }
}

RunProgress::Count& RunProgress::lane_of(Calls::Position call, const Check& check) {
  const Worker worker = calls_.worker(call, check);
  const size_t first = calls_.simulated(call) ? size_t{simulated} : 0;
  if (check.needs_package || worker == Worker::aoti) return lanes_[packaged + first];
  if (worker == Worker::python) return lanes_[(check.slow ? slow : python) + first];
  return lanes_[native + first];
}

void RunProgress::on_verdict(const JudgedCase& judged) {
  ++done_;
  const auto& [calls, call, check, judgement] = judged;
  Count& lane = lane_of(call, check);
  if (judgement.verdict == Verdict::owed) {  // no worker spends time on it
    --lane.total;
    ++known_;
  } else if (lane.done++ == 0) {
    lane.begin = Clock::now();
  }
  if (!is_broken(judgement.verdict) || calls.spec(call).planted) return;
  ++broken_;
  const std::string case_id = judged.id();
  if (!found_.insert(std::string(parts_of_case(case_id).op)).second) return;
  unsaid_.push_back(
      fmt::format("so far: {} {}: {}", to_string(judgement.verdict), case_id,
                  first_line(judgement.finding ? judgement.finding->happened : judgement.reason)));
}

// Empty as long as a lane has judged too little to know how long it takes.
std::string RunProgress::time_left() const {
  double longest = 0;
  for (const Count& lane : lanes_) {
    if (lane.done == lane.total) continue;
    if (lane.done < 2 || lane.done * kKnownFrom < lane.total) return "";
    const double seconds_each = seconds_since(lane.begin) / static_cast<double>(lane.done - 1);
    longest = std::max(longest, static_cast<double>(lane.total - lane.done) * seconds_each);
  }
  return longest == 0 ? "" : fmt::format(", {:.0f} s left", longest);
}

void RunProgress::on_progress(const std::vector<std::string>& current) {
  if (is_quiet_ || !line_.is_due()) return;
  for (const std::string& finding : unsaid_) line_.print(finding);
  unsaid_.clear();
  const double seconds = seconds_since(start_);
  const double rate = seconds > 0 ? static_cast<double>(done_ - known_) / seconds : 0;
  const std::string failed = broken_ > 0 ? fmt::format(" | {} failed", broken_) : "";
  const std::string at = current.empty() ? "" : fmt::format(" | {}", fmt::join(current, "   "));
  line_.show(fmt::format("{:3} % | {:.0f} cases/s{}{}{}", 100 * done_ / std::max<size_t>(total_, 1), rate,
                         time_left(), failed, at),
             fmt::format("{}{}", done_, at));
}

}  // namespace opgate
