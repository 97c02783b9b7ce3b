#include "defects/defect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "defects/attribution.h"
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

// Evidence that a reader understands at once: a mistake that was shown, or where it crashed; from the check that is about the
// fault; the sample as it is; usual dtypes; a short sample.
auto clarity(const BrokenCase& broken) {
  const bool is_shown = !broken.judgement.stack.empty() || !broken.fault.cause.empty();
  return std::tuple(!broken.is_crash(), !is_shown, !is_about_its_fault(broken), !is_undamaged(broken.variant),
                    broken.dtype != "float32", broken.sample.size());
}

std::string id_of(const BrokenCase& root) {
  const auto [kind, about] = root.group();
  return fmt::format("{}/{}/{}{}{}", root.op, root.device, kind, about.empty() ? "" : "/", about);
}

Defect defect_of(const BrokenCase& root, const std::vector<const BrokenCase*>& shown_by) {
  Defect defect;
  defect.id = id_of(root);
  defect.op = root.op;
  defect.device = root.device;
  defect.severity = severity_of(root);
  // A case that another one explains says less of the cause than those with the fault itself.
  const BrokenCase* best = &root;
  for (const BrokenCase* each : shown_by) {
    if (each->group() == root.group() && clarity(*each) < clarity(*best)) best = each;
  }
  for (const BrokenCase* each : shown_by) {
    ++defect.checks[each->check];
    defect.cases.push_back(each->id);
    if (std::ranges::find(defect.variants, each->variant) == defect.variants.end())
      defect.variants.push_back(each->variant);
  }
  defect.example = best->id;
  defect.evidence = best->judgement;
  defect.cause = cause_of(*best);
  return defect;
}

void append_defects(std::vector<Defect>& defects, const Symptoms& all) {
  std::map<const BrokenCase*, const BrokenCase*> explained_by;
  for (const BrokenCase& broken : all.cases()) {
    if (const BrokenCase* cause = attribution_of(broken, all)) explained_by[&broken] = cause;
  }
  // Cases that nothing explains belong together where they show the same fault.
  std::map<std::pair<std::string, std::string>, const BrokenCase*> roots;
  std::map<const BrokenCase*, std::vector<const BrokenCase*>> groups;
  std::vector<const BrokenCase*> order;
  for (const BrokenCase& broken : all.cases()) {
    const BrokenCase& root = root_of(broken, explained_by);
    const BrokenCase* first = roots.try_emplace(root.group(), &root).first->second;
    auto& group = groups[first];
    if (group.empty()) order.push_back(first);
    group.push_back(&broken);
  }
  for (const BrokenCase* root : order) defects.push_back(defect_of(*root, groups[root]));
}

}  // namespace

std::string_view to_string(Severity severity) { return kSeverities[static_cast<size_t>(severity)]; }

void Defects::add(const std::string& case_id, const Judgement& judgement) {
  const CaseParts parts = parts_of_case(case_id);
  by_op_[{std::string(parts.op), std::string(parts.device)}][case_id] = judgement;
}

std::vector<Defect> Defects::found() const {
  std::vector<Defect> defects;
  for (const auto& [op, cases] : by_op_) {
    Symptoms symptoms;
    for (const auto& [id, judgement] : cases) symptoms.add({id, judgement});
    append_defects(defects, symptoms);
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
}

}  // namespace opgate
