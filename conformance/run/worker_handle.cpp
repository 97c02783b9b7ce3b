#include "run/worker_handle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "process/interrupt.h"
#include "process/limits.h"
#include "run/python_template.h"

namespace opgate {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

// How much work a worker gets ahead of its answers: enough to stay busy while the supervisor serves others,
// and little enough that the last worker does not end long after the others.
constexpr std::chrono::duration<double> kWorkAhead = std::chrono::milliseconds(20);
constexpr size_t kFewest = 2;
constexpr size_t kMost = 1024;
constexpr std::chrono::seconds kStartLimit{120};
// Of the limit of a job: how much time on processors counts as all of it, how little as none, and how many limits a job may
// last at most where the machine is busy.
constexpr double kShareOfLimit = 0.8;
constexpr double kShareOfIdle = 0.02;
constexpr int kMostLimits = 10;
constexpr int kStartPollMilliseconds = 200;
constexpr std::chrono::seconds kShutdownTimeout{2};
constexpr std::chrono::seconds kStackLimit{2};
constexpr size_t kLogLines = 6;
constexpr int kStarts = 3;  // attempts where a worker is killed from outside before it is ready

json names(const CheckList& checks) {
  json list = json::array();
  for (const Check* check : checks) list.push_back(check->name);
  return list;
}

// Recognizes {"ran":5}, the answer to nearly every call, without the cost of a JSON parser.
bool says_all_pass(std::string_view line, Calls::Position call) {
  constexpr std::string_view kBegin = R"({"ran":)";
  if (!line.starts_with(kBegin)) return false;
  line.remove_prefix(kBegin.size());
  Calls::Position ran = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), ran);
  return error == std::errc() && ran == call && std::string_view(end, line.data() + line.size()) == "}";
}

// An answer that no job in flight asked for: the process that was to judge the operator does something else.
class OutOfStep : public std::exception {};

// SIGKILL comes from outside the process, not from the operator; the name of the signal does not say so.
std::string who_killed(const std::string& ending) {
  if (!ending.starts_with("SIGKILL")) return "";
  return "; it was killed from outside, as the kernel does where memory runs out";
}

}  // namespace

void WorkerHandle::fork_from(PythonTemplate& from, std::vector<std::string> checks) {
  template_ = &from;
  checks_ = std::move(checks);
}

// Returns false where the worker cannot be forked.
bool WorkerHandle::start_forked() {
  if (template_ == nullptr || !template_->can_fork()) return false;
  child_ = template_->fork(program_.log, checks_);
  if (child_) {
    state_ = State::ready;
    window_ = kFewest;
  }
  return template_->can_fork();
}

int WorkerHandle::answers() const {
  if (child_) return child_->answers();
  return template_ != nullptr ? template_->answers() : -1;  // feed() reads that the worker has been forked
}

bool WorkerHandle::tend() {
  if (!child_) start();
  send();
  std::array<pollfd, 1> waiting{{{answers(), POLLIN, 0}}};
  if (poll(waiting.data(), waiting.size(), 0) > 0) receive();
  check_deadline();
  return state_ == State::ready;
}

void WorkerHandle::request(const json& command, std::function<void(const json&)> on_answer) {
  on_answer_ = std::move(on_answer);
  deadline_ = steady_clock::now() + kStartLimit;
  child_->send(command.dump());
}

void WorkerHandle::start() {
  if (start_forked()) return;
  child_ = std::make_unique<Child>(program_.command, program_.log);
  state_ = State::starting;
  window_ = kFewest;
  child_->send(json{{"setup", program_.setup}}.dump());
  deadline_ = steady_clock::now() + kStartLimit;
}

json WorkerHandle::await_ready() {
  while (state_ != State::ready) {
    if (!child_) start();
    std::array<pollfd, 2> waiting{{{answers(), POLLIN, 0}, {commands(), POLLOUT, 0}}};
    poll(waiting.data(), waiting.size(), kStartPollMilliseconds);
    if (interrupted()) throw Interrupted();
    if (waiting[1].revents != 0) send();
    if (waiting[0].revents != 0) receive();
    check_deadline();
  }
  return said_when_ready_;
}

void WorkerHandle::work_on(std::vector<Queue*> queues, size_t sharers, Listener listener,
                           OnPreparationFailed on_preparation_failed) {
  queues_ = std::move(queues);
  queue_ = queues_.front();
  sharers_ = sharers;
  listener_ = std::move(listener);
  on_preparation_failed_ = std::move(on_preparation_failed);
}

bool WorkerHandle::finished() {
  if (!in_flight_.empty()) return false;
  if (!queue_->empty()) return false;
  const auto next = std::ranges::find_if(queues_, [](Queue* queue) { return !queue->empty(); });
  if (next == queues_.end()) return true;
  queue_ = *next;
  return false;
}

void WorkerHandle::feed() {
  if (finished()) return;
  if (!child_) start();
  if (!child_) return;  // it is being forked
  // Near the end of the queue, each worker takes only its share of what is left.
  const size_t window = std::clamp(queue_->left() / (2 * sharers_), kFewest, window_);
  if (state_ != State::ready || in_flight_.size() > window / 2) return;
  json positions = json::array();
  const auto send_positions = [&] {
    if (!positions.empty()) child_->send(json{{"run", std::exchange(positions, json::array())}}.dump());
  };
  while (in_flight_.size() < window) {
    std::optional<Job> job = queue_->next();
    if (!job) break;
    if (in_flight_.empty()) {
      busy_since_ = steady_clock::now();
      begin_time_of(*job);
    }
    if (job->call && job->every_check && program_.setup.worker != Worker::python) {
      positions.push_back(*job->call);
    } else {
      send_positions();
      json command = job->preparation;
      if (job->call && program_.setup.worker == Worker::python) {
        command = {{"run", queue_->calls().id(*job->call)}, {"checks", names(job->checks)}};
      } else if (job->call) {
        command = {{"run", {*job->call}}, {"checks", names(job->checks)}};
      }
      child_->send(command.dump());  // if the worker is gone, receive() notices
    }
    in_flight_.push_back(*std::move(job));
  }
  send_positions();
}

void WorkerHandle::receive() {
  if (!child_) return;
  std::vector<std::string> lines;
  const bool open = child_->receive(lines);
  const double seconds = keep_pace(lines.size());
  for (const std::string& line : lines) {
    if (stack_.take(line)) continue;
    try {
      take(line, seconds);
    } catch (const json::exception&) {  // the operator wrote to the worker's answer descriptor
      return worker_is_gone(Verdict::crash, fmt::format("it answered '{}'", line));
    } catch (const std::invalid_argument&) {  // a verdict that does not exist
      return worker_is_gone(Verdict::crash, fmt::format("it answered '{}'", line));
    } catch (const OutOfStep&) {
      return worker_is_gone(Verdict::crash,
                            fmt::format("it answered '{}', which is not what it was asked", line));
    }
  }
  if (!open) worker_is_gone(Verdict::crash, "");
}

// Adapts the window to the worker's speed. Returns the mean seconds per answer since the last call.
double WorkerHandle::keep_pace(size_t answers) {
  if (answers == 0) return 0;
  const auto now = steady_clock::now();
  const std::chrono::duration<double> a_call = (now - std::exchange(busy_since_, now)) / answers;
  const auto wanted = static_cast<size_t>(kWorkAhead / std::max(a_call, kWorkAhead / kMost));
  window_ = std::clamp(wanted, kFewest, std::min(2 * window_, kMost));
  return a_call.count();
}

void WorkerHandle::take(const std::string& line, double seconds) {
  if (!in_flight_.empty() && in_flight_.front().call && says_all_pass(line, *in_flight_.front().call)) {
    return take_verdicts(in_flight_.front(), {}, seconds);
  }
  const json message = json::parse(line);
  if (message.contains("broken")) throw SetupError(message.at("broken").get<std::string>());
  if (message.contains("ready")) {
    if (state_ != State::starting) throw OutOfStep();
    state_ = State::ready;
    said_when_ready_ = message.at("ready");
    on_ready_(said_when_ready_);
    return;
  }
  if (message.contains("doing")) {
    doing_ = message.at("doing").get<std::string>();
    return;
  }
  if (on_answer_) return std::exchange(on_answer_, nullptr)(message);
  if (in_flight_.empty() || !answers_job(message, in_flight_.front())) throw OutOfStep();
  take_verdicts(in_flight_.front(), message, seconds);
}

// Each answer names the call or the preparation that it is for.
bool WorkerHandle::answers_job(const json& message, const Job& job) const {
  if (!job.call)
    return message.contains("packaged") &&
           message.at("packaged") == job.preparation.begin()->value("device", "");
  if (!message.contains("ran")) return false;
  return message.at("ran") ==
         (program_.setup.worker == Worker::python ? json(queue_->calls().id(*job.call)) : json(*job.call));
}

void WorkerHandle::take_verdicts(const Job& answered, const json& message, double seconds) {
  // All judgements are read before any is given out: a damaged answer must not count for half of the
  // checks.
  std::vector<Judgement> judgements;
  const json none = json::object();
  const json& ulps = message.contains("ulps") ? message.at("ulps") : none;
  const json& told = message.contains("judgements") ? message.at("judgements") : none;
  for (const Check* check : answered.checks) {
    const bool in_full = program_.setup.worker == Worker::python || told.contains(check->name);
    judgements.push_back(in_full ? told.at(check->name).get<Judgement>()
                                 : Judgement::pass(ulps.value(check->name, 0.0)));
  }
  std::optional<CallFacts> facts;
  if (message.contains("facts")) facts = message.at("facts").get<CallFacts>();
  const Job job = std::move(in_flight_.front());
  in_flight_.pop_front();
  doing_.clear();
  if (message.contains("printed")) child_->forget_printed(message.at("printed").get<std::streamoff>());
  if (!in_flight_.empty()) begin_time_of(in_flight_.front());
  listener_.took(job, seconds);
  if (!job.call) return;
  queue_->answered(*job.call);
  if (facts) listener_.facts(*job.call, *facts);
  for (size_t i = 0; i < job.checks.size(); ++i) give(job, *job.checks[i], std::move(judgements[i]));
}

void WorkerHandle::give(const Job& job, const Check& check, Judgement judgement) {
  const bool none_alone = job.suspects && --job.suspects->unheard == 0 && !job.suspects->found;
  if (none_alone && job.suspects->lost.verdict != Verdict::timeout) {
    // The worker died with all checks together and with none of them alone. The crash is still reported, with
    // the last of these checks.
    judgement = job.suspects->lost;
    judgement.reason += "; it did not happen again with each check of this call alone";
  } else if (none_alone && judgement.verdict == Verdict::pass && judgement.reason.empty()) {
    // A call that did not end in time and does so now may have been held up by something else.
    judgement.reason = job.suspects->lost.reason + "; when it was tried again, it ended in time";
  }
  listener_.verdict(*job.call, check, judgement);
}

void WorkerHandle::begin_time_of(const Job& job) {
  job_began_ = steady_clock::now();
  deadline_ = job_began_ + job.limit;
  cpu_at_begin_ = cpu_seen_ = child_->cpu_time();
}

// Whether the first job in flight is slow because the machine is busy: its process runs, and has had less of a processor than
// the limit. A process that waits for something that never comes uses none, and one in an endless loop soon more than the limit.
bool WorkerHandle::makes_progress(std::chrono::seconds limit) {
  using namespace std::chrono;
  const nanoseconds now = child_->cpu_time();
  const nanoseconds since_seen = now - std::exchange(cpu_seen_, now);
  const nanoseconds used = now - cpu_at_begin_;
  const bool is_spent =
      used >= limit * kShareOfLimit || steady_clock::now() - job_began_ >= limit * kMostLimits;
  if (is_spent || since_seen < limit * kShareOfIdle) return false;
  deadline_ = steady_clock::now() + std::max<nanoseconds>(limit / 4, seconds(1));
  return true;
}

void WorkerHandle::check_deadline() {
  const bool busy = state_ == State::starting || on_answer_ || !in_flight_.empty();
  if (!child_ || !busy || steady_clock::now() < deadline_) return;
  const auto limit = in_flight_.empty() ? kStartLimit : in_flight_.front().limit;
  if (!in_flight_.empty() && makes_progress(limit)) return;
  ask_where_it_is();
  worker_is_gone(Verdict::timeout,
                 fmt::format("no answer for {} s, which is the limit{}", limit.count(), option_of_limit()));
}

// Lets a worker that hangs tell its stack and end.
void WorkerHandle::ask_where_it_is() {
  child_->abort();
  const auto until = steady_clock::now() + kStackLimit;
  std::vector<std::string> lines;
  for (bool open = true; open && steady_clock::now() < until;) {
    std::array<pollfd, 1> waiting{{{child_->answers(), POLLIN, 0}}};
    if (poll(waiting.data(), waiting.size(), kStartPollMilliseconds) > 0) open = child_->receive(lines);
  }
  for (const std::string& line : lines) stack_.take(line);
}

// The option that sets the limit of the current job; empty where no option does.
std::string_view WorkerHandle::option_of_limit() const {
  if (in_flight_.empty()) return "";
  if (program_.setup.worker == Worker::native) return " (--time-limit)";
  return in_flight_.front().call ? " (--python-time-limit)" : "";
}

void WorkerHandle::worker_is_gone(Verdict verdict, const std::string& how) {
  const std::string ending = child_->end(how.empty() ? kShutdownTimeout : std::chrono::seconds{0});
  const std::vector<std::string> printed = child_->last_printed(kLogLines);
  child_.reset();
  doing_.clear();
  const CrashStack stack = std::exchange(stack_, {});
  const bool was_requested = std::exchange(on_answer_, nullptr) != nullptr;
  const bool was_starting = std::exchange(state_, State::stopped) == State::starting || was_requested;
  std::string reason =
      fmt::format("the {} worker ended: {}", kind(), how.empty() ? ending + who_killed(ending) : how);
  const std::string said =
      stack.uncaught() ? *stack.uncaught() : fmt::format("{}", fmt::join(printed, " | "));
  if (!said.empty() && verdict == Verdict::crash) {
    if (const std::string note = memory_note(said, program_.setup.memory); !note.empty())
      reason += "; " + note;
    reason += stack.uncaught() ? "; an exception leaves a thread, an OpenMP region or a noexcept function, "
                                 "where nobody can catch it: "
                               : "; it last printed: ";
    reason += said;
  }
  if (was_starting && !who_killed(ending).empty() && how.empty() && ++killed_starts_ < kStarts) return;
  if (was_starting)
    throw SetupError(fmt::format("{} (before its first case); see {}", reason, program_.log.string()));
  if (in_flight_.empty()) return;
  Job culprit = std::move(in_flight_.front());
  in_flight_.pop_front();
  listener_.took(culprit, std::chrono::duration<double>(steady_clock::now() - busy_since_).count());
  while (!in_flight_.empty()) {
    queue_->put_back(std::move(in_flight_.back()));
    in_flight_.pop_back();
  }
  if (culprit.call) queue_->died_on(*culprit.call, reason);
  Judgement lost{verdict, std::nullopt, reason, 0, {}};
  lost.uncaught = stack.uncaught().value_or("");
  for (const StackFrame& frame : stack.operator_frames()) lost.stack.push_back(frame.text());
  blame(std::move(culprit), lost);
}

void WorkerHandle::blame(Job job, const Judgement& lost) {
  if (!job.call) {
    on_preparation_failed_(job.preparation, lost.reason);
  } else if (job.checks.size() == 1 && (job.suspects || lost.verdict != Verdict::timeout)) {
    if (job.suspects) {
      job.suspects->found = true;
      --job.suspects->unheard;
    }
    listener_.verdict(*job.call, *job.checks.front(), lost);
  } else {
    // To find out which check it was, or whether it takes too long again, each is run alone, before everything else that
    // waits.
    const auto suspects = std::make_shared<Job::Suspects>(Job::Suspects{lost, job.checks.size()});
    for (auto check = job.checks.rbegin(); check != job.checks.rend(); ++check) {
      queue_->put_back({.call = job.call, .checks = {*check}, .suspects = suspects, .limit = job.limit});
    }
  }
}

std::string WorkerHandle::current() const {
  if (in_flight_.empty()) return "";
  const Job& job = in_flight_.front();
  if (!doing_.empty()) return doing_;
  if (job.call) return queue_->calls().id(*job.call);
  return fmt::format("{} for {}", job.preparation.begin().key(),
                     job.preparation.begin()->value("device", ""));
}

void WorkerHandle::close() {
  if (!child_) return;
  child_->close_commands();
  state_ = State::draining;
}

void WorkerHandle::dismiss() {
  if (state_ == State::starting) {
    child_->end();  // it has done nothing yet, and imports of seconds would have to be waited for
  } else if (child_) {
    child_->dismiss();
  }
  child_.reset();
  state_ = State::stopped;
}

}  // namespace opgate
