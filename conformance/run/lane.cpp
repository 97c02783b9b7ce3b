#include "run/lane.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>
#include <poll.h>

#include <utility>

#include "run/interrupt.h"

namespace opgate {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

// Enough to keep a worker busy while the supervisor looks elsewhere; few enough to fit into a pipe.
constexpr size_t kWindow = 32;
constexpr std::chrono::seconds kStartLimit{120};
constexpr int kPollMilliseconds = 200;
constexpr std::chrono::seconds kLeavingLimit{2};
constexpr size_t kLogLines = 6;
// An operator on which the worker dies again and again, without one answer in between, will not get better.
constexpr int kDeathsInARow = 8;

json command_for(const Job& job) {
  if (job.call == nullptr) return job.preparation;
  json checks = json::array();
  for (const Check* check : job.checks) checks.push_back(check->name);
  return {{"run", job.call->id}, {"checks", std::move(checks)}};
}

}  // namespace

Lane::Lane(Worker kind, Program program, OnVerdict on_verdict, OnPreparationFailed on_preparation_failed)
    : kind_(kind),
      program_(std::move(program)),
      on_verdict_(std::move(on_verdict)),
      on_preparation_failed_(std::move(on_preparation_failed)) {}

void Lane::start() {
  child_ = std::make_unique<Child>(program_.command, program_.log);
  ready_ = false;
  child_->send(json{{"setup", program_.setup}}.dump());
  deadline_ = steady_clock::now() + kStartLimit;
}

json Lane::await_ready() {
  if (!child_) start();
  while (!ready_) {
    pollfd waiting{descriptor(), POLLIN, 0};
    poll(&waiting, 1, kPollMilliseconds);
    if (interrupted()) throw Interrupted();
    if (waiting.revents != 0) receive();
    check_deadline();
  }
  return said_when_ready_;
}

void Lane::feed() {
  if (finished()) return;
  if (!child_) start();
  if (!ready_) return;
  while (!pending_.empty() && in_flight_.size() < kWindow) {
    if (in_flight_.empty()) deadline_ = steady_clock::now() + pending_.front().limit;
    in_flight_.push_back(std::move(pending_.front()));
    pending_.pop_front();
    if (!child_->send(command_for(in_flight_.back()).dump())) return;  // its end shows on the answers
  }
}

void Lane::receive() {
  std::vector<std::string> lines;
  const bool open = child_->receive(lines);
  for (const std::string& line : lines) take(line);
  if (!open) worker_is_gone(Verdict::crash, "");
}

void Lane::take(const std::string& line) {
  const json message = json::parse(line);
  if (message.contains("broken")) throw SetupError(message.at("broken").get<std::string>());
  if (message.contains("ready")) {
    ready_ = true;
    said_when_ready_ = message.at("ready");
    return;
  }
  const Job job = std::move(in_flight_.front());
  in_flight_.pop_front();
  deaths_in_a_row_ = 0;
  restart_clock();
  if (job.call == nullptr) return;
  for (const Check* check : job.checks) {
    Judgement judgement = message.at("judgements").at(check->name).get<Judgement>();
    // Died with all together, and now with none alone: it happened all the same, and is not to be forgotten.
    if (job.suspects && --job.suspects->unheard == 0 && !job.suspects->found) {
      judgement = {job.suspects->verdict, std::nullopt,
                   job.suspects->reason + "; it did not happen again with each check of this call alone", 0};
    }
    on_verdict_(*job.call, *check, judgement);
  }
}

void Lane::restart_clock() {
  if (!in_flight_.empty()) deadline_ = steady_clock::now() + in_flight_.front().limit;
}

void Lane::check_deadline() {
  if (!child_ || steady_clock::now() < deadline_ || (ready_ && in_flight_.empty())) return;
  const auto limit = in_flight_.empty() ? kStartLimit : in_flight_.front().limit;
  worker_is_gone(Verdict::timeout, fmt::format("no answer for {} s", limit.count()));
}

void Lane::worker_is_gone(Verdict verdict, const std::string& how) {
  const std::string ending = child_->end(verdict == Verdict::crash ? kLeavingLimit : std::chrono::seconds{0});
  const std::vector<std::string> printed = child_->last_printed(kLogLines);
  child_.reset();
  std::string reason = fmt::format("the {} worker ended: {}", to_string(kind_), how.empty() ? ending : how);
  if (!printed.empty() && verdict == Verdict::crash) {
    reason += fmt::format("; it last printed: {}", fmt::join(printed, " | "));
  }
  if (!ready_)
    throw SetupError(fmt::format("{} (before its first case); see {}", reason, program_.log.string()));
  if (in_flight_.empty()) return;
  Job culprit = std::move(in_flight_.front());
  in_flight_.pop_front();
  while (!in_flight_.empty()) {
    pending_.push_front(std::move(in_flight_.back()));
    in_flight_.pop_back();
  }
  const Spec* subject = culprit.call == nullptr ? nullptr : culprit.call->key.spec;
  blame(std::move(culprit), verdict, reason);
  if (std::exchange(died_on_, subject) != subject) deaths_in_a_row_ = 0;
  if (++deaths_in_a_row_ >= kDeathsInARow && subject != nullptr) give_up(*subject, reason);
}

void Lane::give_up(const Spec& subject, const std::string& reason) {
  const std::string why =
      fmt::format("not run, because the {} worker ended {} times in a row on {}; the last time: {}",
                  to_string(kind_), deaths_in_a_row_, subject.id, reason);
  const auto of_subject = [&](const Job& job) {
    return job.call != nullptr && job.call->key.spec == &subject;
  };
  for (const Job& job : pending_) {
    if (!of_subject(job)) continue;
    for (const Check* check : job.checks)
      on_verdict_(*job.call, *check, {Verdict::crash, std::nullopt, why, 0});
  }
  std::erase_if(pending_, of_subject);
  deaths_in_a_row_ = 0;
}

void Lane::blame(Job job, Verdict verdict, const std::string& reason) {
  if (job.call == nullptr) {
    on_preparation_failed_(job.preparation, reason);
  } else if (job.checks.size() == 1) {
    if (job.suspects) {
      job.suspects->found = true;
      --job.suspects->unheard;
    }
    on_verdict_(*job.call, *job.checks.front(), {verdict, std::nullopt, reason, 0});
  } else {
    // Which of them was it? Each alone, before all that is pending.
    const auto suspects = std::make_shared<Job::Suspects>(Job::Suspects{verdict, reason, job.checks.size()});
    for (auto check = job.checks.rbegin(); check != job.checks.rend(); ++check) {
      pending_.push_front({job.call, {*check}, {}, suspects, job.limit});
    }
  }
}

std::string Lane::current() const {
  if (in_flight_.empty()) return "";
  const Job& job = in_flight_.front();
  if (job.call != nullptr) return job.call->id;
  return fmt::format("{} for {}", job.preparation.begin().key(),
                     job.preparation.begin()->value("device", ""));
}

void Lane::dismiss() {
  if (child_) child_->dismiss();
  child_.reset();
}

}  // namespace opgate
