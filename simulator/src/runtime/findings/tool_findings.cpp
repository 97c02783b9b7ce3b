#include "runtime/findings/tool_findings.h"

#include <deque>
#include <mutex>

#include "runtime/findings/report.h"

namespace opgate::simulator::tool_findings {
namespace {

// A program that takes none must not fill the memory.
constexpr std::size_t kMost = 1000;

struct Kept {
  std::mutex mutex;
  std::deque<std::string> lines;
};

// Never destroyed: libraries call the runtime while the process ends.
Kept& kept() {
  static auto* const only = new Kept;
  return *only;
}

}  // namespace

void keep(std::vector<Finding> findings) {
  const std::lock_guard lock(kept().mutex);
  for (Finding& finding : findings) {
    finding.kernel = readable_name(finding.kernel);
    if (finding.other) finding.other->kernel = readable_name(finding.other->kernel);
    report(finding);
    if (kept().lines.size() < kMost) kept().lines.push_back(to_line(finding));
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

void forget() {
  const std::lock_guard lock(kept().mutex);
  kept().lines.clear();
}

}  // namespace opgate::simulator::tool_findings
