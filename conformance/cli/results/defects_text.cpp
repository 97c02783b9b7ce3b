#include "cli/results/defects_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "cli/terminal/terminal.h"
#include "judging/fault.h"

namespace opgate {
namespace {

constexpr size_t kFramesShown = 3;
constexpr size_t kChecksShown = 6;

void append_line(std::string& text, std::string_view label, std::string_view value) {
  if (!value.empty()) text += fmt::format("   {:8} {}\n", label, value);
}

// "12: value.layout 6, memory.bounds 5, value.index64 1"
std::string cases_text(const Defect& defect) {
  std::vector<std::pair<std::string, size_t>> checks(defect.checks.begin(), defect.checks.end());
  std::ranges::stable_sort(checks, std::greater(), [](const auto& check) { return check.second; });
  std::vector<std::string> shown;
  for (const auto& [check, count] : std::span(checks).first(std::min(kChecksShown, checks.size())))
    shown.push_back(fmt::format("{} {}", check, count));
  const size_t others = checks.size() - shown.size();
  return fmt::format("{}: {}{}", defect.count(), fmt::join(shown, ", "),
                     others == 0 ? "" : fmt::format(" and {} more checks", others));
}

// "scale_twice (3 cases), which calls it"
std::string others_text(const std::map<std::string, size_t>& others, std::string_view relation) {
  std::vector<std::string> shown;
  for (const auto& [op, cases] : others)
    shown.push_back(fmt::format("{} ({} case{})", op, cases, cases == 1 ? "" : "s"));
  return fmt::format("{}, which {}", fmt::join(shown, ", "), relation);
}

std::string callers_text(const Defect& defect) {
  std::vector<std::string> texts;
  if (!defect.callers.empty())
    texts.push_back(others_text(defect.callers, defect.callers.size() == 1 ? "calls it" : "call it"));
  if (!defect.sharing.empty())
    texts.push_back(others_text(defect.sharing, defect.sharing.size() == 1 ? "shows it at the same line"
                                                                           : "show it at the same line"));
  return fmt::format("{}", fmt::join(texts, "; "));
}

// What the reason of a crash or of a wrong spec says that the cause does not: what was printed last, limits.
std::string beyond_cause(const Defect& defect) {
  if (defect.evidence.verdict == Verdict::crash) return defect.evidence.remarks;
  return defect.evidence.reason == defect.cause ? "" : defect.evidence.reason;
}

// Where an argument is misread, the finding names the mistake as what is likely, as the cause does.
bool names_the_cause(const Finding& finding) {
  return finding.fault.kind == fault::kLayout && !finding.fault.cause.empty();
}

std::string_view words_for(Severity severity) {
  switch (severity) {
    case Severity::memory:
      return "memory";
    case Severity::values:
      return "wrong values";
    case Severity::metadata:
      return "wrong metadata";
    case Severity::gradients:
      return "wrong gradients";
    case Severity::errors:
      return "errors";
    case Severity::registration:
      return "registration";
    case Severity::spec:
      return "the spec";
  }
  return "";
}

std::string paragraph(size_t number, const Defect& defect, const std::string& options) {
  const Judgement& evidence = defect.evidence;
  const Colour colour = defect.severity == Severity::spec ? Colour::yellow : Colour::red;
  std::string text = fmt::format("{:2} {} on {}, {}: {}\n", number, defect.op, defect.device,
                                 coloured(colour, words_for(defect.severity)), defect.cause);
  if (evidence.finding) {
    append_line(text, "seen", evidence.finding->happened);
    if (!names_the_cause(*evidence.finding)) append_line(text, "likely", evidence.finding->likely);
  }
  if (const std::string more = beyond_cause(defect); !more.empty()) append_line(text, "because", more);
  for (size_t i = 0; i < std::min(kFramesShown, evidence.stack.size()); ++i)
    append_line(text, i == 0 ? "in" : "from", evidence.stack[i]);
  append_line(text, "cases", cases_text(defect));
  append_line(text, "also", callers_text(defect));
  append_line(text, "again", fmt::format("opgate repro '{}'{}", defect.example, options));
  return text;
}

}  // namespace

std::string defects_text(const std::vector<Defect>& defects, size_t most, const std::string& options) {
  if (defects.empty()) return "";
  size_t cases = 0;
  for (const Defect& defect : defects) cases += defect.count();
  std::string text = fmt::format("{} defect{} ({} broken case{})\n\n", defects.size(),
                                 defects.size() == 1 ? "" : "s", cases, cases == 1 ? "" : "s");
  const size_t shown = std::min(most, defects.size());
  for (size_t i = 0; i < shown; ++i) text += paragraph(i + 1, defects[i], options) + "\n";
  if (shown == defects.size()) return text;
  std::map<Severity, size_t> others;
  for (const Defect& defect : std::span(defects).subspan(shown)) ++others[defect.severity];
  std::vector<std::string> counts;
  for (const auto& [severity, count] : others)
    counts.push_back(fmt::format("{} {}", count, words_for(severity)));
  return text + fmt::format(
                    "and {} more defect{}: {}; `opgate run --verbose` prints all, `opgate report --html` "
                    "makes a page\n\n",
                    defects.size() - shown, defects.size() - shown == 1 ? "" : "s", fmt::join(counts, ", "));
}

}  // namespace opgate
