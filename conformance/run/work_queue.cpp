#include "run/work_queue.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgate {
namespace {

constexpr std::ptrdiff_t kDeathsInARow = 8;

}  // namespace

Queue::Queue(Worker kind, const Calls& calls, const CaseSet& todo, std::chrono::seconds limit, size_t workers,
             OnVerdict on_verdict, Packages packages)
    : kind_(kind),
      calls_(calls),
      todo_(todo),
      limit_(limit),
      workers_(workers),
      on_verdict_(std::move(on_verdict)),
      packages_(packages) {}

void Queue::add_preparation(nlohmann::json preparation, std::chrono::seconds limit) {
  waiting_.push_back({.preparation = std::move(preparation), .limit = limit});
}

bool Queue::holds(Calls::Position call, const Check& check) const {
  return calls_.worker(call, check) == kind_ &&
         (packages_ == Packages::either || check.needs_package == (packages_ == Packages::needed));
}

CheckList Queue::checks_of(Calls::Position call) const {
  CheckList checks = todo_.of(call);
  std::erase_if(checks, [&](const Check* check) { return !holds(call, *check); });
  return checks;
}

std::ptrdiff_t Queue::count(Calls::Position call) const {
  return std::ranges::count_if(calls_.checks(call), [&](const Check* check) { return holds(call, *check); });
}

// Moves next_call_ to the next call that has a case left in this queue; returns false where there is none.
bool Queue::advance() {
  while (next_call_ < calls_.size() && checks_of(next_call_).empty()) ++next_call_;
  return next_call_ < calls_.size();
}

bool Queue::empty() { return waiting_.empty() && !advance(); }

std::optional<Job> Queue::next() {
  while (!empty()) {
    Job job;
    if (!waiting_.empty()) {
      job = std::move(waiting_.front());
      waiting_.pop_front();
    } else {
      const auto all = static_cast<size_t>(count(next_call_));
      job.call = next_call_;
      job.checks = checks_of(next_call_++);
      job.every_check = job.checks.size() == all;
      job.limit = limit_;
    }
    if (!give_up_if_hopeless(job)) return job;
  }
  return std::nullopt;
}

bool Queue::give_up_if_hopeless(const Job& job) {
  if (given_up_.empty() || !job.call) return false;
  const auto found = given_up_.find(&calls_.spec(*job.call));
  if (found == given_up_.end()) return false;
  for (const Check* check : job.checks) on_verdict_(*job.call, *check, Judgement::owed(found->second));
  return true;
}

void Queue::died_on(Calls::Position call, const std::string& reason) {
  const Spec& subject = calls_.spec(call);
  Deaths& deaths = deaths_[&subject];
  ++deaths.count;
  deaths.calls.insert(call);
  // One crashing call per worker is no reason to give up, even if it crashes once with all its checks
  // together and again with each of them alone.
  if (deaths.count < kDeathsInARow || deaths.calls.size() <= workers_) return;
  given_up_[&subject] =
      fmt::format("not run, because the {} worker ended {} times in a row on {}; the last time: {}",
                  to_string(kind_), deaths.count, subject.id, reason);
}

void Queue::answered(const Spec& subject) {
  if (!deaths_.empty()) deaths_.erase(&subject);
}

}  // namespace opgate
