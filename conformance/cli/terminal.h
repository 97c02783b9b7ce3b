// What differs between a terminal and a file: colour, width, a line that is rewritten.
#pragma once

#include <string>
#include <string_view>

namespace opgate {

enum class Colour { red, green, yellow, faint, bold };

/// Coloured where stdout is a terminal and NO_COLOR is not set; as it is elsewhere.
std::string coloured(Colour colour, std::string_view text);

/// Columns of the terminal, or 120 where there is none.
size_t terminal_width();

/// From now on a reader that closes stdout, as `| head` does, ends the program without a word. Not while
/// workers are written to: one that dies would end it, too.
void end_where_nobody_reads();

/// A line on stderr that replaces itself on a terminal; elsewhere a line of its own every ten seconds.
class ProgressLine {
 public:
  /// True where the line is old enough for another; only then is it worth making one.
  bool is_due();
  void show(const std::string& text);
  /// Removes it, so that results start on an empty line.
  void clear();

 private:
  bool shown_ = false;
  double last_ = 0;
};

}  // namespace opgate
