#include "plan/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "base/errors.h"
#include "base/text.h"
#include "device/accelerator.h"
#include "device/simulator.h"
#include "inputs/variant.h"
#include "plan/keywords.h"
#include "plan/patterns.h"
#include "spec/spec.h"
#include "values/counter.h"

namespace opgate {
namespace {

void demand_known(const std::vector<Spec>& specs, const std::vector<Check>& checks, const Filter& filter) {
  Names ops;
  Names ids;
  for (const Spec& spec : specs) ops[spec.id] = spec.name;
  for (const Check& check : checks) ids[check.name] = check.group();
  demand_matches("op", filter.ops, ops);
  demand_matches("check", filter.checks, ids);
  std::vector<std::string> devices = device_type_names();
  devices.emplace_back(kSimulatedDevice);
  demand_matches("device", filter.devices, devices);
}

class Planner {
 public:
  Planner(const std::vector<Spec>& specs, const std::vector<Check>& checks, const Filter& filter, Plan& plan)
      : filter_(filter),
        plan_(plan),
        keywords_(filter.keywords),
        case_matched_(filter.cases.size()),
        every_check_(checks) {
    for (const Spec& spec : specs) {
      if (!filter.planted || !spec.planted) continue;
      planted_[spec.name].insert(spec.planted->check);
      planted_[spec.planted->twin].insert(spec.planted->check);
    }
  }

  void add(const Spec& spec) {
    if (!selects(filter_.ops, spec.id) && !selects(filter_.ops, spec.name)) return;
    checks_.clear();
    for (const Check& check : every_check_) {
      if (selects_check(filter_.checks, check.name) || planted_[spec.name].contains(check.name))
        checks_.push_back(&check);
    }
    for (const c10::DeviceType device : std::views::keys(spec.dtypes)) {
      add_on(spec, device, false);
      if (filter_.simulated && device == kSimulatedType) add_on(spec, device, true);
    }
  }

  void demand_matched_cases() const {
    for (size_t i = 0; i < case_matched_.size(); ++i) {
      if (case_matched_[i]) continue;
      throw setup_error("no case matches '{}'; see `opgate list cases`", filter_.cases[i]);
    }
  }

 private:
  void add_on(const Spec& spec, c10::DeviceType device, bool simulated) {
    if (!selects(filter_.devices, device_name(device, simulated))) return;
    for (const Sample& sample : spec.samples) add_calls({&spec, &sample, c10::kFloat, device, "", simulated});
    for (const Rejection& rejection : spec.rejections)
      add_calls({&spec, &rejection.sample, c10::kFloat, device, "", simulated});
  }

  // Layouts of the same values follow each other, so that they share what the worker caches between calls.
  void add_calls(CallKey key) {
    const std::vector<Variant> choices = variants(*key.spec, *key.sample);
    const Dtypes& declared = key.spec->dtypes.at(key.device);
    for (const c10::ScalarType dtype : dtypes_) {
      // Undeclared dtypes are tried only on the first sample (Scope::Dtypes::every). Asking every check
      // about them for every sample would be most of the cost of making a plan.
      const bool first_sample = key.sample == &key.spec->samples.front();
      if (!first_sample && std::ranges::find(declared, dtype) == declared.end()) continue;
      key.dtype = dtype;
      for (const Variant& variant : choices) {
        key.variant = variant.text;
        add_call(key, variant);
      }
    }
  }

  void add_call(const CallKey& key, const Variant& variant) {
    planned_.clear();
    for (const Check* check : checks_) {
      if (in_scope(check->scope, key, variant)) planned_.push_back(check);
    }
    if (filter_.chooses_cases() && !planned_.empty()) {
      const std::string id = call_id(key);
      std::erase_if(planned_, [&](const Check* check) { return !selects_case(id + "/" + check->name); });
    }
    if (!planned_.empty()) plan_.calls.add(key, planned_);
  }

  bool selects_case(const std::string& id) {
    if (!keywords_.matches(id)) return false;
    bool selected = filter_.cases.empty();
    for (size_t i = 0; i < filter_.cases.size(); ++i) {
      if (!matches(filter_.cases[i], id) && !matches(shortest_numbers(filter_.cases[i]), id)) continue;
      selected = case_matched_[i] = true;
    }
    return selected;
  }

  const Filter& filter_;
  Plan& plan_;
  const Keywords keywords_;
  CheckList checks_;  // for the spec at hand
  CheckList planned_;
  const Dtypes dtypes_ = every_dtype();
  std::vector<bool> case_matched_;
  const std::vector<Check>& every_check_;
  std::map<std::string, std::set<std::string>> planted_;  // checks by subject
};

constexpr std::string_view kReversed = "reversed";

std::optional<uint64_t> seed_in(const std::string& text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return seed;
}

// The specs sorted by id, or as `order` says.
std::vector<const Spec*> ordered(const std::vector<Spec>& specs, const std::string& order) {
  std::vector<const Spec*> all;
  for (const Spec& spec : specs) all.push_back(&spec);
  std::ranges::sort(all, {}, &Spec::id);
  if (order == kReversed) std::ranges::reverse(all);
  if (const auto seed = seed_in(order)) {
    // Not std::shuffle, whose order depends on the standard library: every process must make the same plan.
    for (size_t left = all.size(); left > 1; --left)
      std::swap(all[left - 1], all[bits_at(*seed, left) % left]);
  }
  return all;
}

}  // namespace

void demand_order(const std::string& order) {
  if (order.empty() || order == kReversed || seed_in(order)) return;
  throw setup_error("--order {}: give \"reversed\", or a number that seeds a random order", order);
}

std::string pattern_of(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

Plan make_plan(const std::vector<Spec>& specs, const std::vector<Check>& checks, const Filter& filter) {
  demand_known(specs, checks, filter);
  demand_order(filter.order);
  Plan plan;
  Planner planner(specs, checks, filter, plan);
  for (const Spec* spec : ordered(specs, filter.order)) planner.add(*spec);
  planner.demand_matched_cases();
  if (plan.calls.empty())
    throw SetupError(
        "nothing to check: the selected ops, checks and devices have no case in common; see `opgate list "
        "cases`");
  return plan;
}

std::string case_id(const PlannedCall& call, const Check& check) { return call.id + "/" + check.name; }

}  // namespace opgate
