#include "gate/ledger/ledger_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/errors.h"
#include "base/files/toml_nodes.h"
#include "gate/call_groups.h"
#include "gate/ledger/toml_text.h"
#include "spec/fact_fields.h"
#include "spec/naming_words.h"

namespace opgate {
namespace {

constexpr std::string_view kWriter = "`opgate accept`";

// The words of a text that are separated by spaces: "float32 float64".
std::vector<std::string> split_words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool holds_tables(const toml::node& node) {
  const toml::table* const table = node.as_table();
  return table != nullptr && !table->empty() && table->begin()->second.is_table();
}

class LedgerReader {
 public:
  LedgerReader(TomlNodes nodes, const toml::table& table) : nodes_(std::move(nodes)), table_(table) {}

  SubjectState subject() {
    if (!table_.contains("schema") || !table_.contains("kernels") || !table_.contains("planned"))
      throw not_whole();
    read_planned(nodes_.table(*table_.get("planned")));
    for (const auto& [key, node] : table_) {
      if (read_fact(key.str(), node) || key.str() == "planned") continue;
      if (key.str() == "owed")
        read_owed(nodes_.table(node));
      else if (key.str() == "results")
        read_results(nodes_.table(node));
      else
        nodes_.wrong(node);
    }
    return std::move(subject_);
  }

 private:
  SetupError not_whole() const {
    return setup_error(
        "{}: this file is {}; check it out, or remove it and run {} again", nodes_.file().string(),
        table_.empty() ? "empty" : "no whole file of a ledger: it needs schema, kernels and planned",
        kWriter);
  }

  void read(const toml::node& node, std::string& text) const { text = nodes_.text(node); }
  void read(const toml::node& node, bool& flag) const { flag = nodes_.flag(node); }
  void read(const toml::node& node, std::vector<std::string>& texts) const { texts = nodes_.texts(node); }
  void read(const toml::node& node, std::optional<AccuracyFacts>& accuracy) const {
    accuracy = accuracy_from(nodes_.text(node));
    if (!accuracy) nodes_.wrong(node);
  }
  void read(const toml::node& node, std::map<std::string, std::string>& texts) const {
    texts = nodes_.texts_by_name(node);
  }
  void read(const toml::node& node, std::map<std::string, double>& ratios) const {
    for (const auto& [name, ratio] : nodes_.table(node))
      ratios[std::string(name.str())] = nodes_.value<double>(ratio);
  }
  void read(const toml::node& node, std::map<std::string, std::vector<std::string>>& texts) const {
    for (const auto& [name, values] : nodes_.table(node))
      texts[std::string(name.str())] = nodes_.texts(values);
  }

  // The fact in the row with this key. Returns false if the table has no such row.
  template <class Table>
  bool read_row(const Table& table, std::string_view key, const toml::node& node) {
    bool found = false;
    const auto read_if_meant = [&](const auto& row) {
      if (row.key != key) return;
      read(node, subject_.facts.*row.value);
      found = true;
    };
    for_each_row(read_if_meant, table);
    return found;
  }

  // What does not depend on a device. Returns false for any other key.
  bool read_fact(std::string_view key, const toml::node& node) {
    if (read_row(kFactLines, key, node)) return true;
    if (std::ranges::find(kNamingWords, key, &NamingWord::key) != kNamingWords.end()) {
      std::vector<std::string> names = nodes_.texts(node);
      if (!names.empty()) subject_.facts.named[std::string(key)] = std::move(names);
    } else if (key == "spec")
      read_spec(nodes_.table(node));
    else if (key == "waivers")
      read(node, subject_.waivers);
    else
      return false;
    return true;
  }

  void read_spec(const toml::table& described) {
    for (const auto& [key, node] : described) {
      if (!read_row(kFactTables, key.str(), node)) nodes_.wrong(node);
    }
  }

  // The devices that a table is about. The table of planned cases names all of them.
  std::vector<std::string> devices_of(const toml::table& described) const {
    const toml::node* const names = described.get("devices");
    if (names == nullptr) nodes_.wrong(described);
    std::vector<std::string> devices = nodes_.texts(*names);
    for (const std::string& device : devices) {
      if (!subject_.devices.contains(device)) nodes_.wrong(*names);
    }
    return devices;
  }

  // Calls `take` with each device that has the value, and with the value. If `by_device`, the line is a table
  // that names the devices; otherwise all devices of the table have the same value.
  void on_devices(const toml::node& line, const std::vector<std::string>& devices, bool by_device,
                  const auto& take) const {
    if (!by_device) {
      for (const std::string& device : devices) take(device, line);
      return;
    }
    for (const auto& [names, value] : nodes_.table(line)) {
      for (const std::string& device : split_words(names.str())) {
        if (std::ranges::find(devices, device) == devices.end()) nodes_.wrong(value);
        take(device, value);
      }
    }
  }

  void read_planned(const toml::table& described) {
    const toml::node* const names = described.get("devices");
    if (names == nullptr) nodes_.wrong(described);
    const std::vector<std::string> devices = nodes_.texts(*names);
    for (const std::string& device : devices) subject_.devices[device];
    std::map<std::string, std::map<std::string, CheckedDtypes>> groups;  // by name and device
    if (const toml::node* const checks = described.get("checks")) {
      for (const auto& [check, line] : nodes_.table(*checks)) {
        on_devices(line, devices, holds_tables(line),
                   [&](const std::string& device, const toml::node& value) {
                     for (const auto& [dtypes, of_groups] : nodes_.table(value)) {
                       for (const std::string& group : nodes_.texts(of_groups))
                         add_check(check.str(), split_words(dtypes.str()), groups[group][device]);
                     }
                   });
      }
    }
    for (const auto& [key, node] : described) {
      if (key.str() == "calls")
        read_calls(nodes_.table(node), groups);
      else if (key.str() != "devices" && key.str() != "checks")
        nodes_.wrong(node);
    }
  }

  static void add_check(std::string_view check, const std::vector<std::string>& dtypes,
                        CheckedDtypes& group) {
    if (check != kNoChecks) group[std::string(check)].insert(dtypes.begin(), dtypes.end());
  }

  void read_calls(const toml::table& samples,
                  const std::map<std::string, std::map<std::string, CheckedDtypes>>& groups) {
    for (const auto& [sample, by_group] : samples) {
      for (const auto& [name, variants] : nodes_.table(by_group)) {
        const auto group = groups.find(std::string(name.str()));
        if (group == groups.end()) nodes_.wrong(variants);
        for (const std::string& variant : nodes_.texts(variants)) {
          for (const auto& [device, checks] : group->second)
            subject_.devices.at(device).planned.add(std::string(sample.str()), variant, checks);
        }
      }
    }
  }

  void read_owed(const toml::table& described) {
    for (const auto& [name, node] : described) {
      const auto device = subject_.devices.find(std::string(name.str()));
      if (device == subject_.devices.end()) nodes_.wrong(node);
      if (node.is_table()) {
        for (const auto& [check, by_dtype] : nodes_.table(node)) {
          for (const auto& [dtype, count] : nodes_.table(by_dtype))
            device->second.owed[std::string(check.str())][std::string(dtype.str())] =
                nodes_.value<size_t>(count);
        }
      } else if (nodes_.text(node) == "everything")
        device->second.owed = of_calls(device->second.planned.count());
      else
        nodes_.wrong(node);
    }
  }

  // Results by sample (or check), dtype (or variant) and device. `results_of` returns where those of a device
  // belong.
  template <class Value>
  void read_lines(const toml::node& node, const std::vector<std::string>& devices,
                  const auto& results_of) const {
    for (const auto& [key, values] : nodes_.table(node)) {
      for (const auto& [word, line] : nodes_.table(values)) {
        on_devices(line, devices, line.is_table(), [&](const std::string& device, const toml::node& value) {
          results_of(device)[std::string(key.str())][std::string(word.str())] = nodes_.value<Value>(value);
        });
      }
    }
  }

  void read_results(const toml::table& described) {
    std::vector<std::string> devices;
    if (described.contains("devices")) devices = devices_of(described);
    for (const auto& [key_, node] : described) {
      const std::string_view key = key_.str();
      const auto read = [&](const auto results) {
        read_lines<std::string>(
            node, devices, [&](const std::string& device) -> auto& {
              return subject_.devices.at(device).*results;
            });
      };
      if (key == "values") {
        read(&DeviceState::values);
      } else if (key == "reference") {
        read(&DeviceState::reference);
      } else if (key == "outputs") {
        read(&DeviceState::outputs);
      } else if (key == "machines") {
        for (const auto& [machine, results] : nodes_.table(node))
          read_machine(std::string(machine.str()), nodes_.table(results));
      } else if (key != "devices") {
        nodes_.wrong(node);
      }
    }
  }

  void read_machine(const std::string& machine, const toml::table& described) {
    const std::vector<std::string> devices = devices_of(described);
    for (const std::string& device : devices) subject_.devices.at(device).machines[machine];
    const auto results_of = [&](const auto results) {
      return [ this, &machine, results ](const std::string& device) -> auto& {
        return subject_.devices.at(device).machines.at(machine).*results;
      };
    };
    for (const auto& [key_, node] : described) {
      const std::string_view key = key_.str();
      if (key == "worst")
        read_lines<double>(node, devices, results_of(&MachineResults::worst));
      else if (key == "bits")
        read_lines<std::string>(node, devices, results_of(&MachineResults::bits));
      else if (key == "speed")
        read_lines<double>(node, devices, results_of(&MachineResults::speed));
      else if (key != "devices")
        nodes_.wrong(node);
    }
  }

  const TomlNodes nodes_;
  const toml::table& table_;
  SubjectState subject_;
};

}  // namespace

SubjectState subject_of_ledger(const std::filesystem::path& file) {
  const toml::table table = merged_toml(file, kWriter);
  const TomlNodes nodes(
      file, fmt::format("this is no line of a ledger; check out the file, or run {} again", kWriter));
  return LedgerReader(nodes, table).subject();
}

}  // namespace opgate
