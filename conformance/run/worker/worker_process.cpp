#include "run/worker/worker_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <utility>

#include "base/errors.h"
#include "judging/verdict.h"
#include "process/interrupt.h"
#include "process/limits.h"

namespace opgate {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{200};
constexpr std::chrono::seconds kShutdownTimeout{2};
constexpr std::chrono::seconds kStackLimit{2};
constexpr size_t kLogLines = 6;
constexpr int kStarts = 3;  // attempts if a process is killed from outside before it is ready

bool has_input(int descriptor, std::chrono::milliseconds wait) {
  std::array<pollfd, 1> waiting{{{descriptor, POLLIN, 0}}};
  return poll(waiting.data(), waiting.size(), static_cast<int>(wait.count())) > 0;
}

}  // namespace

void WorkerProcess::start() {
  child_ = std::make_unique<Child>(program_.command, program_.log);
  state_ = State::starting;
  start_deadline_ = steady_clock::now() + kStartLimit;
  send(json{{"setup", program_.setup}});
}

void WorkerProcess::adopt(std::unique_ptr<Child> forked) {
  child_ = std::move(forked);
  state_ = State::ready;
}

json WorkerProcess::await_ready() {
  while (state_ != State::ready) {
    if (!child_) start();
    const bool open = receive_within(kPoll).open;
    if (interrupted()) throw Interrupted();
    if (!open) end(Verdict::crash);
    check_start();
  }
  return said_when_ready_;
}

WorkerProcess::Received WorkerProcess::receive() {
  Received received;
  received.open = child_->receive(received.answers);
  std::erase_if(received.answers, [&](const std::string& line) { return stack_.take(line); });
  if (state_ != State::starting || received.answers.empty()) return received;
  const std::string first = received.answers.front();
  received.answers.erase(received.answers.begin());
  take_readiness(first);
  return received;
}

WorkerProcess::Received WorkerProcess::receive_within(std::chrono::milliseconds wait) {
  flush();
  return has_input(answers(), wait) ? receive() : Received{};
}

// The first answer of a process is about its set-up.
void WorkerProcess::take_readiness(const std::string& line) {
  const json message = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (const auto broken = broken_setup(message)) throw SetupError(*broken);
  if (!message.contains("ready")) {
    end(Verdict::crash, fmt::format("it answered '{}'", line));
    return;
  }
  state_ = State::ready;
  said_when_ready_ = message.at("ready");
  program_.on_ready(said_when_ready_);
}

void WorkerProcess::check_start() {
  if (state_ == State::starting && steady_clock::now() >= start_deadline_) end_late(kStartLimit);
}

std::optional<Judgement> WorkerProcess::end_late(std::chrono::seconds limit, std::string_view option) {
  ask_where_it_is();
  return end(Verdict::timeout,
             fmt::format("no answer for {} s, which is the limit{}", limit.count(), option));
}

void WorkerProcess::ask_where_it_is() {
  child_->abort();
  const auto until = steady_clock::now() + kStackLimit;
  std::vector<std::string> lines;
  for (bool open = true; open && steady_clock::now() < until;) {
    if (has_input(child_->answers(), kPoll)) open = child_->receive(lines);
  }
  for (const std::string& line : lines) stack_.take(line);
}

std::optional<Judgement> WorkerProcess::end(Verdict verdict, const std::string& how) {
  const int status = child_->end(how.empty() ? kShutdownTimeout : std::chrono::seconds{0});
  const std::vector<std::string> printed = child_->last_printed(kLogLines);
  child_.reset();
  const bool was_starting = std::exchange(state_, State::stopped) == State::starting;
  const CrashStack stack = std::exchange(stack_, {});
  // The signal comes from outside the process, not from the operator; its name does not say so.
  killed_from_outside_ = how.empty() && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

  Judgement lost{.verdict = verdict};
  lost.ended = how.empty() ? ending_in_short(status) : how;
  lost.reason = fmt::format("the {} worker ended: {}", to_string(kind()), how.empty() ? ending(status) : how);
  if (killed_from_outside_)
    lost.add_remark("it was killed from outside, as the kernel does where memory runs out");
  const std::string said = stack.uncaught().value_or(fmt::format("{}", fmt::join(printed, " | ")));
  if (!said.empty() && verdict == Verdict::crash) {
    if (const std::string note = memory_note(said, program_.setup.memory); !note.empty())
      lost.add_remark(note);
    lost.add_remark((stack.uncaught() ? "an exception leaves a thread, an OpenMP region or a noexcept "
                                        "function, where no code can catch it: "
                                      : "it last printed: ") +
                    said);
  }
  if (was_starting) {
    note_failed_start(lost);
    return std::nullopt;
  }
  lost.uncaught = stack.uncaught().value_or("");
  for (const StackFrame& frame : stack.operator_frames()) lost.stack.push_back(frame.text());
  return lost;
}

void WorkerProcess::note_failed_start(const Judgement& lost) {
  if (killed_from_outside_ && ++killed_starts_ < kStarts) return;
  throw setup_error("{} (before its first case); see {}", lost.reason, program_.log.string());
}

void WorkerProcess::close() {
  if (!child_) return;
  child_->close_commands();
  state_ = State::draining;
}

void WorkerProcess::dismiss() {
  if (state_ == State::starting) {
    child_->end();  // it has done nothing yet, and imports of seconds would have to be waited for
  } else if (child_) {
    child_->dismiss();
  }
  child_.reset();
  state_ = State::stopped;
}

}  // namespace opgate
