// package.stale: a package that was compiled before the change loads, and gives the results that eager
// gives now.
#include <fmt/format.h>

#include <algorithm>

#include "base/check_group.h"
#include "base/text.h"
#include "gate/broken.h"
#include "gate/rule.h"
#include "plan/case_parts.h"

namespace opgate::package_stale {
namespace {

// Whether packages of the operator, or of any operator where `op` is empty, differed from eager in the base
// itself.
bool was_broken(const RunState* base, const std::string& op) {
  return base != nullptr && std::ranges::any_of(base->broken, [&](const Broken& broken) {
           const CaseParts parts = parts_of_case(broken.case_id);
           return group_of_check(parts.check) == "aoti" && (op.empty() || parts.op == op);
         });
}

void judge(const Change& change, RuleReport& report) {
  for (const OldPackage& package : change.packages) {
    for (const OldPackage::Problem& problem : package.problems) {
      std::string what = "a package that was compiled before: " + first_line(problem.what);
      if (problem.others > 0) what += fmt::format(" (and {} more calls)", problem.others);
      const bool before = was_broken(change.base_run, problem.op);
      if (before) what += "; in the base, such packages differed from eager, too";
      report.add(before ? Remark::Kind::note : Remark::Kind::refused, problem.op, std::move(what),
                 problem.call.empty() ? package.file : problem.call);
    }
    if (package.unknown > 0) {
      report.note("",
                  fmt::format("{} calls of models in a package that was compiled before are not judged: "
                              "the head's run made no package of them to compare with",
                              package.unknown),
                  package.file);
    }
    if (!package.owed.empty())
      report.note("", "a package that was compiled before is not run: " + package.owed, package.file);
  }
}

OPGATE_REGISTER_RULE(package_stale, {.name = "package.stale", .judge = &judge});

}  // namespace
}  // namespace opgate::package_stale
