#include "simulator/runtime/report.h"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>

#include "simulator/runtime/settings.h"

namespace opgate::simulator {
namespace reporting {

// One call of write for each line, so that lines of several threads or processes do not mix.
void write_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  const std::string line = "opgate sim: " + text + "\n";
  const ssize_t ignored = write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(ignored);
}

}  // namespace reporting

void report_finding(const std::string& text) { reporting::write_line(text); }

void report_progress(const std::string& text) {
  if (settings().log) reporting::write_line(text);
}

void report_unsupported(const std::string& function) {
  static std::mutex mutex;
  static auto* const reported = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (reported->insert(function).second) reporting::write_line(function + " is not simulated");
}

std::string readable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : mangled;
}

}  // namespace opgate::simulator
