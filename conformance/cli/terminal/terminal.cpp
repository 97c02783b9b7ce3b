#include "cli/terminal/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

namespace opgate {
namespace {

constexpr size_t kWidthOfAFile = 120;
constexpr double kTerminalSeconds = 0.1;
constexpr double kFileSeconds = 10;

int code(Colour colour) {
  switch (colour) {
    case Colour::red:
      return 31;
    case Colour::green:
      return 32;
    case Colour::yellow:
      return 33;
    case Colour::faint:
      return 2;
    case Colour::bold:
      return 1;
  }
  return 0;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void end_where_nobody_reads() { std::signal(SIGPIPE, SIG_DFL); }

std::string coloured(Colour colour, std::string_view text) {
  static const bool wanted = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  return wanted ? fmt::format("\033[{}m{}\033[0m", code(colour), text) : std::string(text);
}

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kWidthOfAFile;
  return size.ws_col;
}

bool ProgressLine::is_due() {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const double now = seconds_now();
  if (last_ == 0 && !terminal) last_ = now;  // a short run needs no progress in a log
  return now - last_ >= (terminal ? kTerminalSeconds : kFileSeconds);
}

void ProgressLine::show(const std::string& text, const std::string& state) {
  last_ = seconds_now();
  if (isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "\r\033[K{}", text.substr(0, terminal_width() - 1));
    shown_ = true;
  } else if (state != state_) {
    fmt::print(stderr, "{}\n", text);
  }
  state_ = state;
  std::fflush(stderr);
}

void ProgressLine::print(const std::string& text) {
  clear();
  fmt::print(stderr, "{}\n", text);
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace opgate
