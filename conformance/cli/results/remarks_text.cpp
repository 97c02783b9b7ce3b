#include "cli/results/remarks_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace opgate {

size_t count_of(const Remarks& remarks, Remark::Kind kind) {
  return static_cast<size_t>(std::ranges::count(remarks, kind, &Remark::kind));
}

namespace {

// The checks of the remarks of that kind about that defect.
std::set<std::string> checks_of(const Remarks& remarks, Remark::Kind kind, const std::string& defect) {
  std::set<std::string> checks;
  for (const Remark& remark : remarks) {
    if (remark.kind == kind && remark.defect == defect) checks.insert(remark.rule);
  }
  return checks;
}

}  // namespace

std::string refusals_text(const Remarks& remarks) {
  std::set<std::string> defects;
  size_t others = 0;
  for (const Remark& remark : remarks) {
    if (remark.kind != Remark::Kind::refused) continue;
    if (remark.defect.empty()) {
      ++others;
    } else {
      defects.insert(remark.defect);
    }
  }
  if (defects.empty()) return counted(others, "reason");
  return counted(defects.size(), "defect") + (others == 0 ? "" : " and " + counted(others, "other reason"));
}

std::string defects_beside(const RunState& base, const RunState& head) {
  const auto count = [](const auto& of, const auto& is_counted) {
    return static_cast<size_t>(std::ranges::count_if(of, is_counted));
  };
  const auto in_base = [&](const auto& defect) { return base.defects.contains(defect.first); };
  const size_t kept = count(head.defects, in_base);
  return fmt::format("{}, {} gone, {} as in the base", counted(head.defects.size() - kept, "new defect"),
                     base.defects.size() - kept, kept);
}

std::string in_lines(const Remarks& remarks, Remark::Kind kind) {
  size_t width = 0;
  for (const Remark& remark : remarks) width = std::max(width, remark.op.size());
  std::string text;
  std::set<std::string> shown;  // defects
  // A defect is shown by the check of its example, if that one is refused, too.
  const auto has_better = [&](const std::string& defect) {
    return std::ranges::any_of(remarks, [&](const Remark& remark) {
      return remark.kind == kind && remark.defect == defect && remark.shows_best;
    });
  };
  for (const Remark& remark : remarks) {
    if (remark.kind != kind) continue;
    // Notes say for each check by itself whether it is waived, or broken in the base.
    const bool is_folded = kind == Remark::Kind::refused && !remark.defect.empty();
    if (is_folded && !remark.shows_best && has_better(remark.defect)) continue;
    if (is_folded && !shown.insert(remark.defect).second) continue;
    std::string what = remark.what;
    if (is_folded) {
      std::set<std::string> others = checks_of(remarks, kind, remark.defect);
      others.erase(remark.rule);
      if (!others.empty()) what += fmt::format("; the same defect: {}", fmt::join(others, ", "));
    }
    text += fmt::format("  {:<{}}  {}\n", remark.op, width, what);
    if (!remark.shown.empty()) text += fmt::format("  {:<{}}    {}\n", "", width, remark.shown);
  }
  return text;
}

}  // namespace opgate
