// The process of a worker: how it is started, whether it has taken its set-up, and how it ended.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crashes/crash_stack.h"
#include "process/child_process.h"
#include "run/worker/protocol.h"

namespace opgate {

enum class Verdict;
struct Judgement;

/// How long a process may take until it is ready.
inline constexpr std::chrono::seconds kStartLimit{120};

struct WorkerProgram {
  Command command;
  std::filesystem::path log;
  Setup setup;
  /// Receives what each process says when it is ready. May throw SetupError.
  std::function<void(const nlohmann::json& said)> on_ready = [](const nlohmann::json&) {};
};

class WorkerProcess {
 public:
  struct Received {
    std::vector<std::string> answers;  ///< one line each
    bool open = true;                  ///< false once the process sends no more
  };

  /// Starts nothing yet.
  explicit WorkerProcess(WorkerProgram program) : program_(std::move(program)) {}

  const WorkerProgram& program() const { return program_; }
  Worker kind() const { return program_.setup.worker; }

  /// Starts the process without waiting for it.
  void start();

  /// Continues with a process that was forked from one that is ready, and is ready itself.
  void adopt(std::unique_ptr<Child> forked);

  bool runs() const { return child_ != nullptr; }
  bool is_starting() const { return state_ == State::starting; }
  bool is_ready() const { return state_ == State::ready; }

  /// Starts the process if it does not run, waits until it is ready, and returns what it said. Throws
  /// SetupError if it cannot start, and Interrupted.
  nlohmann::json await_ready();

  /// The descriptors to poll for reading, and for writing where data waits to be sent; else -1.
  int answers() const { return child_ ? child_->answers() : -1; }
  int commands() const { return child_ && child_->has_unsent() ? child_->commands() : -1; }

  /// Sends a command. A process that is gone is noticed by receive().
  void send(const nlohmann::json& command) { child_->send(command.dump()); }

  /// Sends the data that waits.
  void flush() { child_->flush(); }

  /// Reads what has arrived. Throws SetupError if the process reports that its set-up is broken.
  Received receive();

  /// The same, if something arrives within this time.
  Received receive_within(std::chrono::milliseconds wait);

  /// Ends a process that has not taken its set-up within kStartLimit.
  void check_start();

  /// Ends the process. Returns the verdict on what it was doing, with the reason, which includes `how`;
  /// empty: it ended by itself. Returns none if it was not ready yet and may be started again. Throws
  /// SetupError if it cannot be started.
  std::optional<Judgement> end(Verdict verdict, const std::string& how = "");

  /// The same for a process that has not answered within `limit`, which this option sets. Lets it report its
  /// stack first.
  std::optional<Judgement> end_late(std::chrono::seconds limit, std::string_view option = "");

  /// For a process that end() has ended before it could be given any case. Throws SetupError with the reason,
  /// except if it was killed from outside and may be started again.
  void note_failed_start(const Judgement& lost);

  /// How long the process has run on processors.
  std::chrono::nanoseconds cpu_time() const { return child_->cpu_time(); }

  /// See Child::forget_printed().
  void forget_printed(std::streamoff end) { child_->forget_printed(end); }

  /// Reports to the process that no more commands come.
  void close();

  /// Lets the process exit, and stops waiting for it.
  void dismiss();

 private:
  enum class State {
    stopped,   ///< no process: not started, or it ended
    starting,  ///< it has not answered its set-up
    ready,     ///< it takes work
    draining,  ///< it gets no more commands, and exits once it has carried out those that it has
  };

  void take_readiness(const std::string& line);
  void ask_where_it_is();

  const WorkerProgram program_;
  std::unique_ptr<Child> child_;
  State state_ = State::stopped;
  CrashStack stack_;  // what the process has reported of it while it died
  nlohmann::json said_when_ready_;
  std::chrono::steady_clock::time_point start_deadline_;
  int killed_starts_ = 0;
  bool killed_from_outside_ = false;  // the process that end() ended last
};

}  // namespace opgate
