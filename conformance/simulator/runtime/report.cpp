#include "simulator/runtime/report.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

#include "simulator/runtime/settings.h"

namespace opgate::simulator {
namespace reporting {

// One call of write for each line, so that lines of several threads or processes do not mix.
void write_whole(int file, const char* line, std::size_t bytes) {
  const ssize_t ignored = write(file, line, bytes);
  static_cast<void>(ignored);
}

void write_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  const std::string line = "opgate sim: " + text + "\n";
  write_whole(STDERR_FILENO, line.data(), line.size());
}

// Read when the library is loaded, because a signal handler may ask. The program may change its environment later.
const char* report_file() {
  static const char* const name = [] {
    const char* const value = std::getenv("OPGATE_SIM_REPORT");
    return value == nullptr || *value == '\0' ? nullptr : strdup(value);
  }();
  return name;
}

[[maybe_unused]] const char* const kReadEarly = report_file();

// Opened for each line: the program may close all files that it does not know, and its children write, too.
void append(const char* line, std::size_t bytes) {
  const int file = open(report_file(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  write_whole(file, line, bytes);
  close(file);
}

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') json += '\\';
    json += static_cast<unsigned char>(each) < ' ' ? ' ' : each;
  }
  return json + '"';
}

void append(const Finding& finding) {
  if (report_file() == nullptr) return;
  const std::string line = "{\"tool\":" + quoted(finding.tool) + ",\"text\":" + quoted(finding.text) +
                           ",\"error\":" + quoted(finding.error) + ",\"kernel\":" + quoted(finding.kernel) +
                           ",\"location\":" + quoted(finding.location) + "}\n";
  append(line.data(), line.size());
}

}  // namespace reporting

void report_finding(const Finding& finding) {
  std::string line;
  if (!finding.kernel.empty()) line += "kernel " + finding.kernel + ", " + finding.location + ": ";
  line += finding.text;
  if (!finding.error.empty()) line += " (" + finding.error + ")";
  reporting::write_line(line);
  reporting::append(finding);
}

void report_start() { reporting::append({"start", std::to_string(getpid()), {}, {}, {}}); }

bool has_report_file() { return reporting::report_file() != nullptr; }

void report_fault_of_host(const char* text) {
  std::array<char, 400> line{};
  int length = std::snprintf(line.data(), line.size(), "opgate sim: %.300s\n", text);
  reporting::write_whole(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
  if (reporting::report_file() == nullptr) return;
  length = std::snprintf(line.data(), line.size(),
                         "{\"tool\":\"memory\",\"text\":\"%.300s\",\"error\":\"SIGSEGV\",\"kernel\":\"\","
                         "\"location\":\"\"}\n",
                         text);
  reporting::append(line.data(), static_cast<std::size_t>(length));
}

void report_notice(const std::string& text) { reporting::write_line(text); }

void report_progress(const std::string& text) {
  if (settings().log) reporting::write_line(text);
}

void report_unsupported(const std::string& function) {
  static std::mutex mutex;
  static auto* const reported = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!reported->insert(function).second) return;
  reporting::write_line(function + " is not simulated");
  reporting::append({"unsupported", function, {}, {}, {}});
}

std::string readable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : mangled;
}

}  // namespace opgate::simulator
