// Writes what ledger_reader.cpp reads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <set>
#include <utility>

#include "gate/call_groups.h"
#include "gate/ledger/ledger.h"
#include "gate/ledger/toml_text.h"
#include "spec/fact_fields.h"
#include "spec/naming_words.h"

namespace opgate {
namespace {

using Devices = std::map<std::string, DeviceState>;
using Words = std::vector<std::string>;
using TextByDevice = std::map<std::string, std::string>;  // of one value, as TOML has it

std::string in_toml(const std::string& value) { return toml_string(value); }
std::string in_toml(double value) { return fmt::format("{:.3g}", value); }
std::string in_toml(size_t value) { return std::to_string(value); }
std::string in_toml(std::same_as<bool> auto value) { return value ? "true" : "false"; }

std::string in_toml(const std::optional<AccuracyFacts>& accuracy) {
  return toml_string(accuracy ? to_text(*accuracy) : "");
}

std::string in_toml(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + toml_string(word);
  return "[" + text + "]";
}

template <class Value>
std::string in_toml(const std::map<std::string, Value>& table) {
  std::string text;
  for (const auto& [key, value] : table)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, in_toml(value));
  return "{ " + text + " }";
}

// A value that all of these devices share is written as it is: `"raises"`. If they differ, each value stands
// once, with the devices that have it: `{ cpu = "raises", "cuda sim" = "[4] strides (1)" }`.
std::string on_devices(const TextByDevice& texts, const Words& devices) {
  std::vector<std::pair<std::string, Words>> different;
  for (const auto& [device, text] : texts) {
    const auto same = std::ranges::find(different, text, &std::pair<std::string, Words>::first);
    if (same == different.end())
      different.push_back({text, {device}});
    else
      same->second.push_back(device);
  }
  if (different.size() == 1 && different.front().second.size() == devices.size())
    return different.front().first;
  std::string line;
  for (const auto& [text, names] : different) {
    const std::string key =
        names.size() == 1 ? names.front() : toml_string(fmt::format("{}", fmt::join(names, " ")));
    line += fmt::format("{}{} = {}", line.empty() ? "" : ", ", key, text);
  }
  return "{ " + line + " }";
}

// The values of results by sample (or check), dtype (or variant) and device.
using Lines = std::map<std::string, std::map<std::string, TextByDevice>>;

// `results` returns those of one device; null if it has none.
Lines lines_of(const Devices& devices, const auto& results) {
  Lines lines;
  for (const auto& [device, state] : devices) {
    const auto* const table = results(state);
    if (table == nullptr) continue;
    for (const auto& [key, values] : *table) {
      for (const auto& [word, value] : values) lines[key][word][device] = in_toml(value);
    }
  }
  return lines;
}

void append_lines(std::string& text, const std::string& name, std::string_view comment, const Lines& lines,
                  const Words& devices) {
  if (!lines.empty()) text += fmt::format("\n[{}]  # {}\n", name, comment);
  for (const auto& [key, values] : lines) {
    std::string line;
    for (const auto& [dtype, texts] : values)
      line += fmt::format("{}{} = {}", line.empty() ? "" : ", ", dtype, on_devices(texts, devices));
    text += fmt::format("{} = {{ {} }}\n", toml_string(key), line);
  }
}

Words names_of(const Devices& devices, const auto& counts) {
  Words names;
  for (const auto& [name, device] : devices) {
    if (counts(device)) names.push_back(name);
  }
  return names;
}

void append_planned(std::string& text, const Devices& devices) {
  const Words names = names_of(devices, [](const DeviceState&) { return true; });
  text += fmt::format("\n[planned]\ndevices = {}  # a line that names no device is about all of these\n",
                      in_toml(names));
  const std::vector<CallGroup> groups = call_groups(devices);
  if (groups.empty()) return;
  std::map<std::string, std::map<std::string, std::map<std::string, Words>>> checks;  // by device and dtypes
  for (const CallGroup& group : groups) {
    for (const auto& [device, planned] : group.checks) {
      if (planned.empty()) checks[std::string(kNoChecks)][device]["\"\""].push_back(group.name);
      for (const auto& [check, dtypes] : planned)
        checks[check][device][toml_string(fmt::format("{}", fmt::join(dtypes, " ")))].push_back(group.name);
    }
  }
  text += "\n[planned.checks]  # the groups of calls that have the check, by its dtypes\n";
  for (const auto& [check, by_device] : checks) {
    TextByDevice texts;
    for (const auto& [device, groups_by_dtypes] : by_device) texts[device] = in_toml(groups_by_dtypes);
    text += fmt::format("{} = {}\n", toml_string(check), on_devices(texts, names));
  }
  std::map<std::string, std::string> by_sample;
  for (const CallGroup& group : groups) {
    for (const auto& [sample, variants] : group.variants)
      by_sample[sample] += fmt::format("{} = {}\n", toml_string(group.name), in_toml(variants));
  }
  for (const auto& [sample, lines] : by_sample)
    text += fmt::format("\n[planned.calls.{}]\n{}", toml_string(sample), lines);
}

// Checks that make no call are judged on every machine whose build has the kernels, so they are left out.
void append_owed(std::string& text, const Devices& devices) {
  std::string all, some;
  for (const auto& [name, device] : devices) {
    const CaseCounts owed = of_calls(device.owed);
    if (owed.empty()) continue;
    if (owed == of_calls(device.planned.count())) {
      all += fmt::format("{} = \"everything\"\n", name);
      continue;
    }
    some += fmt::format("\n[owed.{}]\n", name);
    for (const auto& [check, counts] : owed)
      some += fmt::format("{} = {}\n", toml_string(check), in_toml(counts));
  }
  if (!all.empty() || !some.empty()) text += "\n[owed]  # how many cases no machine has checked\n";
  text += all + some;
}

void append_machine(std::string& text, const Devices& devices, const std::string& machine) {
  const Words names =
      names_of(devices, [&](const DeviceState& device) { return device.on(machine) != nullptr; });
  const std::string table = "results.machines." + toml_string(machine);
  text += fmt::format("\n[{}]\ndevices = {}\n", table, in_toml(names));
  const auto append = [&](const std::string& name, std::string_view comment, const auto results) {
    const Lines lines = lines_of(devices, [&](const DeviceState& device) {
      const MachineResults* const found = device.on(machine);
      return found == nullptr ? nullptr : &(found->*results);
    });
    append_lines(text, table + name, comment, lines, names);
  };
  append(".worst", "error in ulps, by check", &MachineResults::worst);
  append(".bits", "digests of what contiguous calls return, by sample", &MachineResults::bits);
  append(".speed", "times that of its baseline, and an interval", &MachineResults::speed);
}

void append_results(std::string& text, const Devices& devices) {
  const Words names = names_of(devices, [](const DeviceState& device) {
    return !device.values.empty() || !device.reference.empty() || !device.outputs.empty();
  });
  if (!names.empty()) {
    text += fmt::format("\n[results]\ndevices = {}  # a line that names no device is about all of these\n",
                        in_toml(names));
  }
  const auto lines = [&](const auto results) {
    return lines_of(devices, [&](const DeviceState& device) { return &(device.*results); });
  };
  append_lines(text, "results.values", "summaries of what contiguous calls return, by sample",
               lines(&DeviceState::values), names);
  append_lines(text, "results.reference", "summaries of what the reference returns, by sample",
               lines(&DeviceState::reference), names);
  std::set<std::string> machines;
  for (const auto& [name, device] : devices) {
    for (const auto& [machine, results] : device.machines) machines.insert(machine);
  }
  for (const std::string& machine : machines) append_machine(text, devices, machine);
  for (const auto& [sample, by_variant] : lines(&DeviceState::outputs)) {
    text += fmt::format("\n[results.outputs.{}]\n", toml_string(sample));
    for (const auto& [variant, texts] : by_variant)
      text += fmt::format("{} = {}\n", toml_string(variant), on_devices(texts, names));
  }
}

std::string table_lines(const std::map<std::string, Words>& names_by_device) {
  std::string text;
  for (const auto& [device, names] : names_by_device)
    text += fmt::format("{} = {}\n", device, in_toml(names));
  return text;
}

std::string table_lines(const std::map<std::string, std::string>& texts) {
  std::string text;
  for (const auto& [key, value] : texts)
    text += fmt::format("{} = {}\n", toml_string(key), toml_string(value));
  return text;
}

std::string table_lines(const std::map<std::string, double>& ratios) {
  std::string text;
  for (const auto& [key, ratio] : ratios) text += fmt::format("{} = {:.6g}\n", toml_string(key), ratio);
  return text;
}

void append_table(std::string& text, std::string_view name, std::string_view comment, const auto& table) {
  if (table.empty()) return;
  text += fmt::format("\n[{}]{}{}\n{}", name, comment.empty() ? "" : "  # ", comment, table_lines(table));
}

void append_spec(std::string& text, const SubjectFacts& facts) {
  const auto append_line = [&]<class Value>(const FactLine<Value>& row) {
    const Value& value = facts.*row.value;
    if (row.even_if_empty || value != Value()) text += fmt::format("{} = {}\n", row.key, in_toml(value));
  };
  for_each_row(append_line, kFactLines);
  for (const NamingWord& word : kNamingWords) {
    if (const Words names = facts.names(word.key); !names.empty())
      text += fmt::format("{} = {}\n", word.key, in_toml(names));
  }
  const auto append = [&](const auto& row) {
    append_table(text, fmt::format("spec.{}", row.key), row.comment, facts.*row.value);
  };
  for_each_row(append, kFactTables);
}

}  // namespace

std::string ledger_text(const std::string& id, const SubjectState& subject) {
  std::string text = fmt::format(
      "# {}, as it was accepted: written by `opgate accept`, compared with by `opgate gate`.\n", id);
  append_spec(text, subject.facts);
  append_table(text, "waivers", "", subject.waivers);
  append_planned(text, subject.devices);
  append_owed(text, subject.devices);
  append_results(text, subject.devices);
  return text;
}

}  // namespace opgate
