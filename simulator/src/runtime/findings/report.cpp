#include "runtime/findings/report.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <opgate_sim/function_name.h>
#include "environment/setting.h"
#include "runtime/devices/settings.h"

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

// Read once, before the handler of signals is installed that asks for it. Null if no file is named.
const char* report_file() {
  static const std::string* const name = new std::string(value_of(Setting::report));
  return name->empty() ? nullptr : name->c_str();
}

// Opened for each line: the program may close all files that it does not know, and its children write, too.
bool append(const char* line, std::size_t bytes) {
  const int file = open(report_file(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const bool done = write(file, line, bytes) == static_cast<ssize_t>(bytes);
  close(file);
  return done;
}

// pytest puts it into the environment, which the processes that a test starts inherit, and adds the phase:
// "test_add.py::test_it (call)".
std::string current_test() {
  const char* const text = std::getenv("PYTEST_CURRENT_TEST");
  if (text == nullptr) return "";
  const std::string_view test(text);
  return std::string(test.substr(0, test.rfind(" (")));
}

// To the file, if there is one. If that fails, reports so once.
void append(Finding finding) {
  if (report_file() == nullptr) return;
  static std::atomic<bool> complained{false};
  finding.test = current_test();
  const std::string line = to_line(finding) + "\n";
  if (!append(line.data(), line.size()) && !complained.exchange(true))
    report_notice(assignment(Setting::report) + " cannot be written: " + std::strerror(errno));
}

// Each launch finds a mistake again, and a program that launches a kernel a thousand times has made one. The
// process keeps a thousand mistakes apart, and has then written enough. The same is true of notes.
template <class What>
bool is_new(const What& what) {
  constexpr std::size_t kMost = 1000;
  static std::mutex mutex;
  static auto* const written = new std::set<What>;
  const std::lock_guard lock(mutex);
  return written->size() < kMost && written->insert(what).second;
}

}  // namespace reporting

void report(const Finding& finding) {
  if (reporting::is_new(place_of(finding))) reporting::write_line(to_text(finding));
  reporting::append(finding);
}

void report_start() {
  static std::atomic<bool> is_reported{false};
  if (is_reported.exchange(true)) return;
  reporting::append({.kind = Finding::Kind::start, .message = std::to_string(getpid())});
}

void report_followed(const std::string& part) {
  reporting::append({.kind = Finding::Kind::schedule, .message = part});
}

bool has_report_file() { return reporting::report_file() != nullptr; }

void report_fault_of_host(const char* text) {
  std::array<char, 400> line{};
  int length = std::snprintf(line.data(), line.size(), "opgate sim: %.300s\n", text);
  reporting::write_whole(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
  if (reporting::report_file() == nullptr) return;
  length = std::snprintf(line.data(), line.size(),
                         "{\"tool\":\"memory\",\"message\":\"%.300s\",\"error\":\"SIGSEGV\"}\n", text);
  reporting::append(line.data(), static_cast<std::size_t>(length));
}

void report_notice(const std::string& text) { reporting::write_line(text); }

void report_notes(const std::string& kernel, const std::vector<std::string>& notes) {
  if (notes.empty() || !reporting::is_new(std::pair(kernel, notes))) return;
  reporting::write_line("kernel " + kernel + ":");
  for (const std::string& note : notes) reporting::write_line(note);
}

void report_progress(const std::string& text) {
  if (settings().log) reporting::write_line(text);
}

void report_unsupported(const std::string& function) {
  static std::mutex mutex;
  static auto* const reported = new std::set<std::pair<std::string, std::string>>;
  const std::lock_guard lock(mutex);
  if (!reported->emplace(function, reporting::current_test()).second) return;
  report({.kind = Finding::Kind::unsupported, .message = function});
}

std::string readable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  const std::string name = status == 0 && text != nullptr ? text.get() : mangled;
  constexpr std::size_t kLong = 120;
  return name.size() <= kLong ? name : short_function_name(name);
}

}  // namespace opgate::simulator
