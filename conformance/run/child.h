// A worker process: lines in on its stdin, lines out on its descriptor 3, everything it prints itself in a
// log file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "run/command.h"

namespace opgate {

/// The descriptor on which a worker answers; stdout stays free for operators that print.
inline constexpr int kAnswerDescriptor = 3;

/// In a child: writes one line to kAnswerDescriptor; leaves the process where nobody reads any more.
void answer_line(std::string line);

/// In a child: from now on it is killed when the process that started it ends.
void end_with_parent();

class Child {
 public:
  /// Starts the process, in a process group of its own so that it can be ended with all it started. Throws
  /// SetupError.
  Child(const Command& command, const std::filesystem::path& log);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends the line as far as the process takes it now, and keeps the rest for flush(): it may be long, and
  /// the process busy. False once the process reads no more; what it has answered can still be read.
  bool send(std::string_view line);

  /// Sends more of what is kept. False as above.
  bool flush();

  /// True while something is kept; then commands() can be polled for room.
  bool has_unsent() const { return !unsent_.empty(); }
  int commands() const { return commands_.get(); }

  /// The process will hear nothing more, and leaves once it has done what it was told.
  void close_commands() { commands_.reset(); }

  /// Reads what has arrived; whole lines are appended to `lines`. False at the end of the stream.
  bool receive(std::vector<std::string>& lines);

  /// The last `count` lines that this process printed.
  std::vector<std::string> last_printed(size_t count) const;

  int answers() const { return answers_.get(); }

  /// Ends the process group, reaps the process and says how it ended: "SIGSEGV (Segmentation fault)", "exit
  /// status 1". A process that is leaving by itself is given `grace` to do so, so that its own ending is what
  /// is reported.
  std::string end(std::chrono::milliseconds grace = {});

  /// Closes its stdin, lets it leave by itself, and ends it where it does not.
  void dismiss();

 private:
  std::filesystem::path log_;
  std::streamoff log_begin_ = 0;  // what lies before was printed by others
  pid_t pid_ = -1;
  Descriptor commands_;
  Descriptor answers_;
  std::string unsent_;
  std::string partial_;
};

}  // namespace opgate
