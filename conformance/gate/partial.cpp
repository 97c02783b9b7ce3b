#include "gate/partial.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "device/device.h"
#include "device/simulator.h"
#include "inputs/call_key.h"
#include "plan/patterns.h"
#include "plan/plan.h"

namespace opgate {

namespace {

// Throws SetupError for samples or cases of which the run has only a part.
Filter filter_of_whole_samples(const RunState& run) {
  if (!run.header.samples.empty()) {
    throw setup_error("{} has the samples of {} and not those of the specs; run again without --samples",
                      run.file.string(), run.header.samples);
  }
  Filter filter = run.header.filter;
  if (filter.devices.empty() && !filter.chooses_cases()) return filter;
  throw setup_error(
      "{} has only some devices or cases of its operators; run them again without --device and --case",
      run.file.string());
}

}  // namespace

bool is_partial(const RunState& run) {
  const Filter filter = filter_of_whole_samples(run);
  if (filter.checks.empty()) return !filter.ops.empty();
  throw setup_error("{} has only some checks of its operators; run them again without --check",
                    run.file.string());
}

bool chose_the_same(const RunHeader& one, const RunHeader& other) {
  const auto chosen = [](const RunHeader& header) {
    Filter filter = header.filter;
    filter.simulated = false;
    return nlohmann::json(filter);
  };
  return chosen(one) == chosen(other);
}

std::vector<std::string> checks_of(const RunState& run) { return filter_of_whole_samples(run).checks; }

void keep_checks(const std::vector<std::string>& checks, State& base) {
  const auto keep = [&](const std::string& check) { return selects_check(checks, check); };
  const auto keep_in = [&](auto& by_check) {
    std::erase_if(by_check, [&](const auto& entry) { return !keep(entry.first); });
  };
  for (auto& [id, subject] : base) {
    for (auto& [name, device] : subject.devices) {
      device.planned = device.planned.of_checks(keep);
      keep_in(device.owed);
      keep_in(device.by_evidence);
      for (auto& [machine, results] : device.machines) keep_in(results.worst);
    }
    std::erase_if(subject.devices, [](const auto& device) { return device.second.planned.empty(); });
  }
  std::erase_if(base, [](const auto& subject) { return subject.second.devices.empty(); });
}

bool is_unchecked(const DeviceState& device) {
  return total(of_calls(device.planned.count())) ==
         total(of_calls(device.owed)) + total(of_calls(device.by_evidence));
}

namespace {

// Dispatch keys hold the name of the device: AutogradCUDA.
bool is_for(c10::DeviceType device, const std::string& kernel) {
  return kernel.find(device_title(device)) != std::string::npos;
}

// A build without any kernel for an accelerator was made without its compiler: its cases there are owed, and
// no kernel is lost.
bool built_without(c10::DeviceType device, const State& state) {
  return std::ranges::none_of(state, [&](const auto& entry) {
    return std::ranges::any_of(entry.second.facts.kernels,
                               [&](const std::string& kernel) { return is_for(device, kernel); });
  });
}

// Python modules often register kernels for an accelerator only if there is one. This is false if a case ran
// on it.
bool ran_without(c10::DeviceType device, const State& state) {
  return std::ranges::all_of(state, [&](const auto& entry) {
    const auto found = entry.second.devices.find(device_name(device));
    return found == entry.second.devices.end() || is_unchecked(found->second);
  });
}

// Adds those of the base's kernels for the device that are missing, and returns how many these are.
size_t keep_kernels(c10::DeviceType device, const std::vector<std::string>& base,
                    std::vector<std::string>& head) {
  size_t kept = 0;
  for (const std::string& kernel : base) {
    if (!is_for(device, kernel) || std::ranges::find(head, kernel) != head.end()) continue;
    head.push_back(kernel);
    ++kept;
  }
  if (std::ranges::is_permutation(base, head)) head = base;  // the order of the dispatch keys
  return kept;
}

// The same cases with the same bits on this machine. Where it is new, its bits cannot be compared, and the
// summaries of the reference's values must be the same.
bool unchanged_on(const std::string& machine, const DeviceState& base, const DeviceState& head) {
  const MachineResults *then = base.on(machine), *now = head.on(machine);
  if (then != nullptr && now != nullptr) return then->bits == now->bits && base.planned == head.planned;
  return base.planned == head.planned && base.reference == head.reference;
}

}  // namespace

KeptKernels keep_unchecked_devices(const State& base, State& head) {
  std::vector<c10::DeviceType> not_built, not_run;
  for (const Accelerator* const each : accelerators()) {
    if (built_without(each->type(), head)) not_built.push_back(each->type());
    if (ran_without(each->type(), head)) not_run.push_back(each->type());
  }
  KeptKernels kept;
  for (auto& [id, subject] : head) {
    const auto known = base.find(id);
    if (known == base.end()) continue;
    const SubjectFacts& facts = known->second.facts;
    for (const c10::DeviceType device : not_built)
      kept[device] += keep_kernels(device, facts.kernels, subject.facts.kernels);
    for (const c10::DeviceType device : not_run)
      kept[device] += keep_kernels(device, facts.python_kernels, subject.facts.python_kernels);
    // A run with --no-sim, or where there is a GPU, asks nothing on the simulated device.
    const auto simulated = known->second.devices.find(kSimulatedDevice);
    if (simulated != known->second.devices.end() && subject.devices.contains(device_name(kSimulatedType)))
      subject.devices.insert(*simulated);
    for (auto& [name, device] : subject.devices) {
      const auto then = known->second.devices.find(name);
      if (then == known->second.devices.end()) continue;
      for (auto& [machine, results] : device.machines) {
        const MachineResults* before = then->second.on(machine);
        if (before != nullptr && results.speed.empty())
          results.speed = before->speed;  // not measured this time
      }
      if (!is_unchecked(device)) continue;
      device.machines = then->second.machines;
      device.outputs = then->second.outputs;
      device.values = then->second.values;
      device.reference = then->second.reference;
    }
  }
  std::erase_if(kept, [](const auto& entry) { return entry.second == 0; });
  return kept;
}

void keep_other_machines(const State& base, const std::string& machine, State& head) {
  for (auto& [id, subject] : head) {
    const auto known = base.find(id);
    if (known == base.end()) continue;
    for (auto& [name, device] : subject.devices) {
      const auto then = known->second.devices.find(name);
      if (then == known->second.devices.end() || !unchanged_on(machine, then->second, device)) continue;
      for (const auto& [other, results] : then->second.machines) device.machines.try_emplace(other, results);
    }
  }
}

}  // namespace opgate
