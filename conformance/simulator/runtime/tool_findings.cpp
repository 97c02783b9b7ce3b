#include "simulator/runtime/tool_findings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>

#include "simulator/runtime/report.h"
#include "simulator/runtime/settings.h"

namespace opgate::simulator::tool_findings {
namespace {

// A program that takes none must not fill the memory.
constexpr std::size_t kMost = 1000;

struct Kept {
  std::mutex mutex;
  std::deque<std::string> lines;
  bool complained = false;
};

// Never destroyed: libraries call the runtime while the process ends.
Kept& kept() {
  static auto* const only = new Kept;
  return *only;
}

// One call of write, so that lines of several processes do not mix.
bool append(const std::string& file, const std::string& line) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  const std::string whole = line + "\n";
  const bool done = write(descriptor, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size());
  close(descriptor);
  return done;
}

}  // namespace

void keep(std::vector<Finding> findings) {
  const std::lock_guard lock(kept().mutex);
  for (Finding& finding : findings) {
    finding.kernel = readable_name(finding.kernel);
    std::string line = to_json(finding);
    report_progress("found " + line);
    const std::string& file = settings().report;
    if (!file.empty() && !append(file, line) && !kept().complained) {
      kept().complained = true;
      report_finding("OPGATE_SIM_REPORT=" + file + " cannot be written: " + std::strerror(errno));
    }
    if (kept().lines.size() < kMost) kept().lines.push_back(std::move(line));
  }
}

std::optional<std::string> oldest() {
  const std::lock_guard lock(kept().mutex);
  if (kept().lines.empty()) return std::nullopt;
  return kept().lines.front();
}

void remove_oldest() {
  const std::lock_guard lock(kept().mutex);
  if (!kept().lines.empty()) kept().lines.pop_front();
}

}  // namespace opgate::simulator::tool_findings
