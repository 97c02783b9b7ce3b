// A worker process. It reads commands from stdin and writes answers to descriptor 3, one line each;
// everything that it prints goes to a log file.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/descriptor.h"
#include "process/command.h"

namespace opgate {

/// The descriptor on which a worker answers; stdout stays free for operators that print.
inline constexpr int kAnswerDescriptor = 3;

/// In a child: writes one line to kAnswerDescriptor. Exits the process if the answers are not read any
/// more.
void answer_line(std::string line);

/// In a child: writes what C's stdio still holds to the log, and returns where the log then ends for this
/// process; -1 where it has no log. What a later call prints is after this place.
std::streamoff end_of_printed();

/// In a child: from now on, the kernel kills this process when the process that started it ends.
void end_with_parent();

/// The pipes between this process and a child that is to be started: of commands and of answers.
struct ChildPipes {
  ChildPipes();  ///< throws SetupError

  Descriptor commands;  ///< does not block
  Descriptor answers;
  Descriptor child_commands;  ///< the child's ends, to be closed here once it has them
  Descriptor child_answers;
};

/// From now on, a process whose parent has ended becomes a child of this one where it descends from it.
/// Processes that others fork can thus be waited for.
void adopt_orphans();

/// The bytes of a log, which need not exist: where the next process begins to print.
std::streamoff size_of_log(const std::filesystem::path& log);

class Child {
 public:
  /// Starts the process in a process group of its own, so that it can be ended together with all processes
  /// that it starts. What it prints is appended to `log`. Throws SetupError.
  Child(const Command& command, const std::filesystem::path& log);
  /// A child of this process that has been started already, with these pipes, in a process group of its own.
  /// It appends what it prints to `log`, whose first `log_begin` bytes are from others.
  Child(pid_t pid, ChildPipes pipes, std::filesystem::path log, std::streamoff log_begin);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends as much of the line as fits into the pipe now, and keeps the rest for flush(), because the line
  /// may be long and the process busy. Returns false once the process reads no more; its answers can still
  /// be read.
  bool send(std::string_view line);

  /// Sends more of what is kept. Returns false once the process reads no more.
  bool flush();

  /// True while something is kept; then the descriptor commands() can be polled for room in the pipe.
  bool has_unsent() const { return !unsent_.empty(); }
  int commands() const { return commands_.get(); }

  /// Closes the pipe of commands: the process exits by itself once it has done what it was told.
  void close_commands() { commands_.reset(); }

  /// Reads what has arrived and appends whole lines to `lines`. Returns false at the end of the stream.
  bool receive(std::vector<std::string>& lines);

  /// The last `count` lines that this process printed, without what was forgotten.
  std::vector<std::string> last_printed(size_t count) const;

  /// From now on, last_printed() leaves out what lies before this place of the log.
  void forget_printed(std::streamoff end) { log_begin_ = std::max(log_begin_, end); }

  /// The descriptor to poll for answers.
  int answers() const { return answers_.get(); }

  /// How long all threads of the process have run on processors so far; zero where that is unknown.
  std::chrono::nanoseconds cpu_time() const;

  /// Sends the process SIGABRT, whose handler in a worker reports the stack and ends it.
  void abort();

  /// Kills the process group, reaps the process and returns its status of waitpid(); 0 if it was reaped
  /// before. A process that is exiting by itself has the time `grace` to do so, so that its own status is
  /// reported and not SIGKILL.
  int end(std::chrono::milliseconds grace = {});

  /// Closes the process's stdin, waits up to ten seconds until it exits by itself, and kills it if it does
  /// not.
  void dismiss();

 private:
  std::filesystem::path log_;
  std::streamoff log_begin_ = 0;  // what comes before it was printed by other processes, or by earlier calls
  pid_t pid_ = -1;
  Descriptor commands_;
  Descriptor answers_;
  std::string unsent_;
  std::string partial_;
};

}  // namespace opgate
