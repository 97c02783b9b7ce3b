// package.stale: a package that was compiled before the change loads and answers as eager does now.
#include <fmt/format.h>

#include "base/text.h"
#include "gate/rule.h"

namespace opgate {
namespace {

constexpr auto kRule = "package.stale";

void judge(const Change& change, Remarks& remarks) {
  for (const OldPackage& package : change.packages) {
    for (const OldPackage::Problem& problem : package.problems) {
      std::string what = "a package that was compiled before: " + first_line(problem.what);
      if (problem.others > 0) what += fmt::format(" (and {} more calls)", problem.others);
      remarks.push_back({Remark::Kind::refused, kRule, problem.op, std::move(what),
                         problem.call.empty() ? package.file : problem.call});
    }
    if (!package.owed.empty())
      remarks.push_back({Remark::Kind::note, kRule, "",
                         "a package that was compiled before is not asked: " + package.owed, package.file});
  }
}

OPGATE_REGISTER_RULE(
    package_stale,
    {kRule,
     {"A package that was compiled with the base's library loads with the head's, and answers as eager does.",
      "Whoever has deployed a package updates the library under it, and not the package. It holds the "
      "schema, "
      "the strides and the dtypes that the fake kernel promised when it was compiled.",
      "Keep the schema and what the fake kernel says; put what is new into an overload of its own. Where old "
      "packages are meant to break, say so in a waiver.",
      "An operator that got an argument in the middle: packages of the last release passed the factor as the "
      "flag."},
     &judge});

}  // namespace
}  // namespace opgate
