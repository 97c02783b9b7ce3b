// Output that differs between a terminal and a file: colour, width, and a progress line that is rewritten.
#pragma once

#include <string>
#include <string_view>

namespace opgate {

/// How much a run prints.
enum class Verbosity {
  quiet,  ///< defects and the summary alone
  usual,
  verbose,  ///< each verdict as it comes, and every defect
};

enum class Colour { red, green, yellow, faint, bold };

/// Returns `text` in colour if stdout is a terminal and NO_COLOR is not set, and unchanged otherwise.
std::string coloured(Colour colour, std::string_view text);

/// The columns of the terminal, or 120 if stdout is not a terminal.
size_t terminal_width();

/// From now on the program ends silently when the reader of stdout closes it, as `| head` does (SIGPIPE).
/// Must not be called while workers are written to, because a worker that dies would then end this process
/// as well.
void end_where_nobody_reads();

/// Progress on stderr: one line that is rewritten on a terminal, or a new line every ten seconds in a file.
class ProgressLine {
 public:
  /// Returns true if enough time has passed for another line. Callers make the text only then.
  bool is_due();
  /// `state` says what has come of the work, without times. In a log, a line whose state is that of the last
  /// one is left out.
  void show(const std::string& text, const std::string& state);
  void show(const std::string& text) { show(text, text); }
  /// Prints a line that stays, above the progress line.
  void print(const std::string& text);
  /// Removes the line, so that results start on an empty line.
  void clear();

 private:
  bool shown_ = false;
  double last_ = 0;
  std::string state_;
};

}  // namespace opgate
