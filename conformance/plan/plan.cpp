#include "plan/plan.h"

#include <c10/util/hash.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>

#include "call/variant.h"

namespace opgate {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool selects(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() ||
         std::ranges::any_of(patterns, [&](const std::string& p) { return matches(p, text); });
}

// "value" stands for "value.*", so that a group can be asked for by its name.
bool selects_check(const std::vector<std::string>& patterns, const Check& check) {
  return selects(patterns, check.name) ||
         (!patterns.empty() && selects(patterns, std::string(check.group())));
}

// A part as it is listed, and another name by which it may be asked for.
using Names = std::map<std::string, std::string>;

void demand_matches(std::string_view what, const std::vector<std::string>& patterns, const Names& names) {
  for (const std::string& pattern : patterns) {
    const auto named = [&](const auto& part) {
      return matches(pattern, part.first) || matches(pattern, part.second);
    };
    if (std::ranges::any_of(names, named)) continue;
    throw SetupError(fmt::format("no {} matches '{}'; there are: {}", what, pattern,
                                 fmt::join(std::views::keys(names), ", ")));
  }
}

void demand_matches(const std::vector<Spec>& specs, const std::vector<Check>& checks, const Filter& filter) {
  Names ops;
  Names ids;
  for (const Spec& spec : specs) ops[spec.id] = spec.name;
  for (const Check& check : checks) ids[check.name] = check.group();
  demand_matches("op", filter.ops, ops);
  demand_matches("check", filter.checks, ids);
  demand_matches("device", filter.devices, {{"cpu", ""}, {"cuda", ""}});
}

class Planner {
 public:
  Planner(const std::vector<Check>& checks, const Filter& filter, Plan& plan)
      : checks_(checks), filter_(filter), plan_(plan) {}

  void add(const Spec& spec) {
    if (!selects(filter_.ops, spec.id) && !selects(filter_.ops, spec.name)) return;
    std::vector<const Sample*> samples;
    for (const Sample& sample : spec.samples) samples.push_back(&sample);
    for (const Rejection& rejection : spec.rejections) samples.push_back(&rejection.sample);
    for (const Sample* sample : samples) {
      const std::vector<Variant> choices = variants(spec, *sample);
      for (const c10::DeviceType device : std::views::keys(spec.dtypes)) {
        if (!selects(filter_.devices, device_name(device))) continue;
        for (const c10::ScalarType dtype : every_dtype()) {
          for (const Variant& variant : choices)
            add_call({&spec, sample, dtype, device, variant.text}, variant);
        }
      }
    }
  }

 private:
  void add_call(CallKey key, const Variant& variant) {
    PlannedCall call{"", std::move(key), {}};
    for (const Check& check : checks_) {
      if (!in_scope(check.scope, call.key, variant) || !selects_check(filter_.checks, check)) continue;
      if (call.id.empty()) call.id = call_id(call.key);
      if (selects(filter_.cases, case_id(call, check))) call.checks.push_back(&check);
    }
    if (!call.checks.empty()) plan_.calls.push_back(std::move(call));
  }

  const std::vector<Check>& checks_;
  const Filter& filter_;
  Plan& plan_;
};

}  // namespace

size_t Plan::cases() const {
  size_t count = 0;
  for (const PlannedCall& call : calls) count += call.checks.size();
  return count;
}

std::string Plan::digest() const {
  std::string ids;
  for (const PlannedCall& call : calls) {
    for (const Check* check : call.checks) ids += case_id(call, *check) + '\n';
  }
  return c10::sha1(ids).str();
}

Plan make_plan(const std::vector<Spec>& specs, const std::vector<Check>& checks, const Filter& filter) {
  demand_matches(specs, checks, filter);
  Plan plan;
  Planner planner(checks, filter, plan);
  for (const Spec& spec : specs) planner.add(spec);
  std::ranges::sort(plan.calls, {}, &PlannedCall::id);
  for (const std::string& pattern : filter.cases) {
    const bool matched = std::ranges::any_of(plan.calls, [&](const PlannedCall& call) {
      return std::ranges::any_of(call.checks,
                                 [&](const Check* check) { return matches(pattern, case_id(call, *check)); });
    });
    if (!matched) throw SetupError(fmt::format("no case matches '{}'; see `opgate list cases`", pattern));
  }
  if (plan.calls.empty())
    throw SetupError("nothing to check: no case is left of the ops, checks and devices asked for together");
  return plan;
}

std::string case_id(const PlannedCall& call, const Check& check) { return call.id + "/" + check.name; }

std::vector<Check> native_checks() { return Registry<Check>::instance().parts(); }

const Check& find_check(const std::vector<Check>& checks, std::string_view id) {
  const auto found = std::ranges::find(checks, id, &Check::name);
  if (found != checks.end()) return *found;
  std::vector<std::string> names;
  for (const Check& check : checks) names.push_back(check.name);
  throw SetupError(fmt::format("no check is named '{}'; there are: {}", id, fmt::join(names, ", ")));
}

}  // namespace opgate
