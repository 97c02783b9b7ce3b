#include "gate/old_ledger.h"

namespace opgate {
namespace {

constexpr std::string_view kGroup = "checks_";  // begins the name of a group of checks

CheckedDtypes checks_of_group(const LedgerNodes& nodes, const toml::node& node) {
  CheckedDtypes checks;
  for (const auto& [check, dtypes] : nodes.table(node)) {
    for (const std::string& dtype : split_words(nodes.text(dtypes)))
      checks[std::string(check.str())].insert(dtype);
  }
  return checks;
}

PlannedCases planned_cases(const LedgerNodes& nodes, const toml::table& described) {
  PlannedCases planned;
  const toml::node* samples = described.get("planned");
  if (samples == nullptr) return planned;
  for (const auto& [sample, by_group] : nodes.table(*samples)) {
    for (const auto& [name, variants] : nodes.table(by_group)) {
      const toml::node* group = described.get(name);
      if (group == nullptr) nodes.wrong(variants);
      const CheckedDtypes checks = checks_of_group(nodes, *group);
      for (const std::string& variant : nodes.texts(variants))
        planned.add(std::string(sample.str()), variant, checks);
    }
  }
  return planned;
}

MachineResults machine_results(const LedgerNodes& nodes, const toml::table& described) {
  MachineResults results;
  for (const auto& [key_, node] : described) {
    const std::string_view key = key_.str();
    if (key == "worst")
      results.worst = nodes.by_dtype<double>(node);
    else if (key == "bits")
      results.bits = nodes.by_dtype<std::string>(node);
    else if (key == "speed")
      results.speed = nodes.by_dtype<double>(node);
    else
      nodes.wrong(node);
  }
  return results;
}

}  // namespace

DeviceState device_of_old_ledger(const LedgerNodes& nodes, const toml::table& described) {
  DeviceState device;
  device.planned = planned_cases(nodes, described);
  for (const auto& [key_, node] : described) {
    const std::string_view key = key_.str();
    if (key == "planned" || key.starts_with(kGroup))
      continue;  // read above
    else if (key == "owed")
      device.owed = nodes.by_dtype<size_t>(node);
    else if (key == "everything" && nodes.text(node) == "owed")
      device.owed = of_calls(device.planned.count());
    else if (key == "values")
      device.values = nodes.by_dtype<std::string>(node);
    else if (key == "reference")
      device.reference = nodes.by_dtype<std::string>(node);
    else if (key == "outputs")
      device.outputs = nodes.by_dtype<std::string>(node);  // by sample and variant
    else if (key == "machines") {
      for (const auto& [machine, results] : nodes.table(node))
        device.machines[std::string(machine.str())] = machine_results(nodes, nodes.table(results));
    } else
      nodes.wrong(node);
  }
  return device;
}

}  // namespace opgate
