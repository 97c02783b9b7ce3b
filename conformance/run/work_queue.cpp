#include "run/work_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/dtypes.h"
#include "judging/calls/step_count.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr std::ptrdiff_t kDeathsInARow = 8;    // of a sample or a variant
constexpr std::ptrdiff_t kDeathsOfLarge = 16;  // of a sample in all dtypes, or of an operator

}  // namespace

Queue::Queue(Worker kind, bool simulated, const Calls& calls, const CaseSet& todo, std::chrono::seconds limit,
             size_t workers, RunListener& listener, Part part)
    : kind_(kind),
      simulated_(simulated),
      calls_(calls),
      todo_(todo),
      limit_(limit),
      workers_(workers),
      listener_(listener),
      part_(part) {}

void Queue::add_preparation(nlohmann::json preparation, std::chrono::seconds limit) {
  waiting_.push_back({.preparation = std::move(preparation), .limit = limit});
}

bool Queue::takes(const Check& check) const {
  const Part part = check.needs_package ? Part::packaged : check.slow ? Part::slow : Part::quick;
  return part_ == Part::all || part_ == part;
}

bool Queue::holds(Calls::Position call, const Check& check) const {
  return calls_.simulated(call) == simulated_ && calls_.worker(call, check) == kind_ && takes(check);
}

CheckList Queue::checks_of(Calls::Position call) const {
  CheckList checks = todo_.of(call);
  std::erase_if(checks, [&](const Check* check) { return !holds(call, *check); });
  return checks;
}

std::ptrdiff_t Queue::count(Calls::Position call) const {
  return std::ranges::count_if(calls_.checks(call), [&](const Check* check) { return holds(call, *check); });
}

// Moves next_call_ to the next call that has a case left in this queue; returns false if there is none.
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
      const bool may_be_long = calls_.spec(*job.call).draft && may_count_steps(calls_.key(*job.call));
      job.limit = may_be_long ? std::min(limit_, kLimitOfStepCount) : limit_;
    }
    if (!give_up_if_hopeless(job)) return job;
  }
  return std::nullopt;
}

// The smallest group comes first, and the whole operator last.
std::array<Queue::Group, 5> Queue::groups_of(const CallKey& key) const {
  const std::string device = device_name(key.device, key.simulated);
  return {Group{key.spec, device, key.sample, key.variant},
          Group{key.spec, device, key.sample, "", key.dtype},
          Group{key.spec, device, nullptr, key.variant, key.dtype}, Group{key.spec, device, key.sample},
          Group{key.spec, device}};
}

// What the calls of a group differ in.
std::string Queue::part_of(const CallKey& key, const Group& group) {
  if (group.sample == nullptr) return key.sample->name;
  return group.dtype ? key.variant : std::string(dtype_name(key.dtype));
}

std::string Queue::in_words(const Group& group) const {
  std::string words;
  if (group.sample != nullptr) words += fmt::format("sample '{}' ", group.sample->name);
  if (!group.variant.empty())
    words += fmt::format("{}{} ", words.empty() ? "variant " : "with ", group.variant);
  if (group.dtype) words += fmt::format("in {} ", dtype_name(*group.dtype));
  return words.empty() ? group.spec->id : words + "of " + group.spec->id;
}

bool Queue::give_up_if_hopeless(const Job& job) {
  if (given_up_.empty() || !job.call) return false;
  for (const Group& group : groups_of(calls_.key(*job.call))) {
    const auto found = given_up_.find(group);
    if (found == given_up_.end()) continue;
    for (const Check* check : job.checks)
      listener_.on_verdict({calls_, *job.call, *check, Judgement::owed(found->second)});
    return true;
  }
  return false;
}

void Queue::died_on(Calls::Position call, const std::string& reason) {
  const CallKey key = calls_.key(call);
  for (const Group& group : groups_of(key)) {
    Deaths& deaths = deaths_[group];
    ++deaths.count;
    deaths.parts.insert(part_of(key, group));
    // One crashing call per worker is no reason to give up, even if it crashes once with all its checks
    // together and again with each of them alone.
    if (deaths.count < (group.is_large() ? kDeathsOfLarge : kDeathsInARow) || deaths.parts.size() <= workers_)
      continue;
    given_up_[group] =
        fmt::format("not run, because the {} worker ended {} times in a row on {}; the last time: {}",
                    to_string(kind_), deaths.count, in_words(group), reason);
  }
}

void Queue::answered(Calls::Position call) {
  if (deaths_.empty()) return;
  for (const Group& group : groups_of(calls_.key(call))) deaths_.erase(group);
}

}  // namespace opgate
