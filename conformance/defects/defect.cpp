#include "defects/defect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ranges>
#include <tuple>

#include "defects/attribution.h"
#include "defects/called_operators.h"
#include "defects/cause.h"
#include "inputs/variant_text.h"
#include "plan/case_parts.h"

namespace opgate {
namespace {

constexpr std::array<std::string_view, 7> kSeverities{"memory", "values",       "metadata", "gradients",
                                                      "errors", "registration", "spec"};

const BrokenCase* attribution_of(const BrokenCase& broken, const Symptoms& all) {
  for (const auto& attributions :
       {attributions_to_memory(), attributions_to_values(), attributions_to_registration(),
        attributions_to_gradients_and_refusals()}) {
    for (const Attribution attribute : attributions) {
      const BrokenCase* found = attribute(broken, all);
      if (found != nullptr && found != &broken) return found;
    }
  }
  return nullptr;
}

// The case at the end of the chain of attributions. A chain that comes back to a case ends there.
const BrokenCase& root_of(const BrokenCase& broken,
                          const std::map<const BrokenCase*, const BrokenCase*>& explained_by) {
  const BrokenCase* root = &broken;
  for (size_t steps = 0; steps <= explained_by.size(); ++steps) {
    const auto next = explained_by.find(root);
    if (next == explained_by.end()) break;
    root = next->second;
  }
  return *root;
}

// Evidence that a reader understands at once: a mistake that was shown, or where it crashed; from a check
// that has found it by itself, and that is about the fault; the sample as it is; usual dtypes; a short
// sample.
auto clarity(const BrokenCase& broken) {
  const bool is_shown = !broken.judgement.stack.empty() || !broken.fault.cause.empty();
  const bool is_of_another_check = broken.judgement.finding && !broken.judgement.finding->fault.check.empty();
  return std::tuple(!broken.is_crash(), !is_shown, is_of_another_check, !is_about_its_fault(broken),
                    !is_undamaged(broken.variant), broken.dtype != "float32", broken.sample.size());
}

std::string id_of(const BrokenCase& root) {
  const auto [kind, about] = root.group();
  return fmt::format("{}/{}/{}{}{}", root.op, root.device, kind, about.empty() ? "" : "/", about);
}

void count(const BrokenCase& broken, Defect& defect) {
  ++defect.checks[broken.check];
  defect.cases.push_back(broken.id);
}

Defect defect_of(const CasesOfDefect& shown) {
  const BrokenCase& root = *shown.root;
  Defect defect;
  defect.id = id_of(root);
  defect.op = root.op;
  defect.device = root.device;
  defect.severity = severity_of(root);
  // A case that another one explains says less of the cause than those with the fault itself.
  const BrokenCase* best = &root;
  for (const BrokenCase* each : shown.cases) {
    if (each->group() == root.group() && clarity(*each) < clarity(*best)) best = each;
  }
  for (const BrokenCase* each : shown.cases) {
    count(*each, defect);
    if (std::ranges::find(defect.variants, each->variant) == defect.variants.end())
      defect.variants.push_back(each->variant);
  }
  for (const BrokenCase* each : shown.of_callers) {
    count(*each, defect);
    ++defect.callers[each->op];
  }
  for (const BrokenCase* each : shown.of_sharing) {
    count(*each, defect);
    ++defect.sharing[each->op];
  }
  defect.example = best->id;
  defect.evidence = best->judgement;
  defect.cause = cause_of(*best);
  return defect;
}

std::vector<CasesOfDefect> sorted_by_cause(const Symptoms& all) {
  std::map<const BrokenCase*, const BrokenCase*> explained_by;
  for (const BrokenCase& broken : all.cases()) {
    if (const BrokenCase* cause = attribution_of(broken, all)) explained_by[&broken] = cause;
  }
  // Cases that nothing explains belong together where they show the same fault.
  std::map<std::pair<std::string, std::string>, size_t> places;
  std::vector<CasesOfDefect> defects;
  for (const BrokenCase& broken : all.cases()) {
    const BrokenCase& root = root_of(broken, explained_by);
    const auto [place, is_new] = places.try_emplace(root.group(), defects.size());
    if (is_new) defects.push_back({&root, {}});
    defects[place->second].cases.push_back(&broken);
  }
  return defects;
}

}  // namespace

std::string_view to_string(Severity severity) { return kSeverities[static_cast<size_t>(severity)]; }

void Defects::add(const std::string& case_id, const Judgement& judgement) {
  const CaseParts parts = parts_of_case(case_id);
  by_op_[{std::string(parts.op), std::string(parts.device)}][case_id] = judgement;
}

void Defects::add_called(const std::string& op, const std::set<std::string>& called) {
  called_[op].insert(called.begin(), called.end());
}

std::vector<Defect> Defects::found() const {
  std::map<std::pair<std::string, std::string>, Symptoms> symptoms;
  std::map<std::string, std::map<std::string, std::vector<CasesOfDefect>>> by_device;
  for (const auto& [key, cases] : by_op_) {
    const auto& [op, device] = key;
    for (const auto& [id, judgement] : cases) symptoms[key].add({id, judgement});
    by_device[device][op] = sorted_by_cause(symptoms[key]);
  }
  for (auto& [device, by_op] : by_device) move_to_called_operators(by_op, called_);
  for (auto& [device, by_op] : by_device) move_to_shared_lines(by_op);
  std::vector<Defect> defects;
  for (const auto& [op, device] : std::views::keys(by_op_)) {
    for (const CasesOfDefect& shown : by_device.at(device).at(op)) defects.push_back(defect_of(shown));
  }
  std::ranges::stable_sort(defects, {}, [](const Defect& defect) { return defect.severity; });
  return defects;
}

void to_json(nlohmann::json& json, const Defect& defect) {
  json = {{"defect", defect.id},     {"op", defect.op},
          {"device", defect.device}, {"severity", to_string(defect.severity)},
          {"cause", defect.cause},   {"example", defect.example},
          {"checks", defect.checks}, {"variants", defect.variants},
          {"cases", defect.cases}};
  if (!defect.callers.empty()) json["callers"] = defect.callers;
  if (!defect.sharing.empty()) json["sharing"] = defect.sharing;
}

}  // namespace opgate
