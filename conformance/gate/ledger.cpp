#include "gate/ledger.h"

#include <c10/util/hash.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include <algorithm>
#include <sstream>

#include "base/atomic_file.h"
#include "base/files.h"
#include "gate/toml_text.h"
#include "spec/subject_facts.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWriter = "`opgate accept`";
constexpr size_t kGroupDigits = 8;              // of the digest that names a group of checks
constexpr std::string_view kGroup = "checks_";  // begins its name

std::string number(double value) { return fmt::format("{:.3g}", value); }
std::string number(size_t value) { return std::to_string(value); }

template <class Value>
std::string by_dtype(const ByDtype<Value>& values) {
  std::string text;
  for (const auto& [dtype, value] : values) {
    if (!text.empty()) text += ", ";
    if constexpr (std::is_same_v<Value, std::string>) {
      text += fmt::format("{} = {}", dtype, toml_string(value));
    } else {
      text += fmt::format("{} = {}", dtype, number(value));
    }
  }
  return "{ " + text + " }";
}

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + toml_string(word);
  return "[" + text + "]";
}

template <class Value>
void append_table(std::string& text, const std::string& name, std::string_view comment,
                  const std::map<std::string, ByDtype<Value>>& table) {
  if (table.empty()) return;
  text += fmt::format("\n[{}]  # {}\n", name, comment);
  for (const auto& [key, values] : table)
    text += fmt::format("{} = {}\n", toml_string(key), by_dtype(values));
}

// A group of checks is named by a digest of what it is, so that its name changes where it does.
std::string group_name(const CheckedDtypes& checks) {
  std::string text;
  for (const auto& [check, dtypes] : checks) text += fmt::format("{} {};", check, fmt::join(dtypes, " "));
  return std::string(kGroup) + c10::sha1(text).str().substr(0, kGroupDigits);
}

void append_planned(std::string& text, const std::string& device, const PlannedCases& planned) {
  std::map<std::string, const CheckedDtypes*> groups;
  for (const CheckedDtypes& checks : planned.groups()) groups[group_name(checks)] = &checks;
  for (const auto& [name, checks] : groups) {
    text += fmt::format("\n[{}.{}]\n", device, name);
    for (const auto& [check, dtypes] : *checks)
      text += fmt::format("{} = {}\n", toml_string(check),
                          toml_string(fmt::format("{}", fmt::join(dtypes, " "))));
  }
  for (const auto& [sample, variants_of_group] : planned.by_sample()) {
    std::map<std::string, const std::vector<std::string>*> lines;
    for (const auto& [group, variants] : variants_of_group)
      lines[group_name(planned.groups()[group])] = &variants;
    text += fmt::format("\n[{}.planned.{}]\n", device, toml_string(sample));
    for (const auto& [group, variants] : lines) text += fmt::format("{} = {}\n", group, list(*variants));
  }
}

void append_device(std::string& text, const std::string& name, const DeviceState& device) {
  // Checks that make no call are judged on every machine whose build has the kernels, so they are left out.
  const CaseCounts owed = of_calls(device.owed);
  const bool all_owed = owed == of_calls(device.planned.count());
  if (all_owed) text += fmt::format("\n[{}]\neverything = \"owed\"  # no machine has checked it\n", name);
  append_planned(text, name, device.planned);
  if (!all_owed) append_table(text, name + ".owed", "how many cases no machine has checked", owed);
  append_table(text, name + ".values", "summaries of what contiguous calls return, by sample", device.values);
  append_table(text, name + ".reference", "summaries of what the reference returns, by sample",
               device.reference);
  for (const auto& [machine, results] : device.machines) {
    const std::string table = fmt::format("{}.machines.{}", name, toml_string(machine));
    append_table(text, table + ".worst", "error in ulps, by check", results.worst);
    append_table(text, table + ".bits", "digests of what contiguous calls return, by sample", results.bits);
    append_table(text, table + ".speed", "times that of its baseline, and an interval", results.speed);
  }
  for (const auto& [sample, by_variant] : device.outputs) {
    text += fmt::format("\n[{}.outputs.{}]\n", name, toml_string(sample));
    for (const auto& [variant, output] : by_variant)
      text += fmt::format("{} = {}\n", toml_string(variant), toml_string(output));
  }
}

void append_texts(std::string& text, const std::string& name,
                  const std::map<std::string, std::string>& texts) {
  if (texts.empty()) return;
  text += fmt::format("\n[{}]\n", name);
  for (const auto& [key, value] : texts)
    text += fmt::format("{} = {}\n", toml_string(key), toml_string(value));
}

void append_spec(std::string& text, const SubjectFacts& facts) {
  text += fmt::format("schema = {}\nkernels = {}\n", toml_string(facts.schema), list(facts.kernels));
  if (!facts.python_kernels.empty()) text += fmt::format("python_kernels = {}\n", list(facts.python_kernels));
  text += fmt::format("tags = {}\npromises = {}\n", list(facts.tags), list(facts.promises));
  if (facts.accuracy) text += fmt::format("accuracy = {}\n", toml_string(to_text(*facts.accuracy)));
  if (facts.gradient_accuracy)
    text += fmt::format("gradient_accuracy = {}\n", toml_string(to_text(*facts.gradient_accuracy)));
  text += fmt::format("reference = {}\n", toml_string(facts.reference));
  if (facts.draft) text += "draft = true\n";
  for (const auto& [word, names] : {std::pair{"trusted", &facts.trusted},
                                    {"wants_contiguous", &facts.wants_contiguous},
                                    {"unspecified", &facts.unspecified},
                                    {"on_cpu", &facts.on_cpu},
                                    {"unspecified_for", &facts.unspecified_for}}) {
    if (!names->empty()) text += fmt::format("{} = {}\n", word, list(*names));
  }
  if (!facts.dtypes.empty()) text += "\n[spec.dtypes]\n";
  for (const auto& [device, dtypes] : facts.dtypes) text += fmt::format("{} = {}\n", device, list(dtypes));
  append_texts(text, "spec.samples", facts.samples);
  append_texts(text, "spec.rejections", facts.rejections);
  append_texts(text, "spec.benches", facts.benches);
  if (!facts.speed_limits.empty()) text += "\n[spec.speed_limits]  # times the speed of the baseline\n";
  for (const auto& [bench, ratio] : facts.speed_limits)
    text += fmt::format("{} = {:.6g}\n", toml_string(bench), ratio);
}

// Reads one file of the ledger, and reports errors with file and line.
class Reader {
 public:
  Reader(const fs::path& file, const toml::table& table) : file_(file), table_(table) {}

  SubjectState subject() {
    SubjectState subject;
    SubjectFacts& facts = subject.facts;
    if (!table_.contains("schema") || !table_.contains("kernels")) throw not_whole();
    for (const auto& [key_, node] : table_) {
      const std::string_view key = key_.str();
      if (key == "schema")
        facts.schema = text(node);
      else if (key == "kernels")
        facts.kernels = texts(node);
      else if (key == "python_kernels")
        facts.python_kernels = texts(node);
      else if (key == "tags")
        facts.tags = texts(node);
      else if (key == "promises")
        facts.promises = texts(node);
      else if (key == "accuracy")
        facts.accuracy = accuracy(node);
      else if (key == "gradient_accuracy")
        facts.gradient_accuracy = accuracy(node);
      else if (key == "reference")
        facts.reference = text(node);
      else if (key == "draft")
        facts.draft = flag(node);
      else if (key == "trusted")
        facts.trusted = texts(node);
      else if (key == "wants_contiguous")
        facts.wants_contiguous = texts(node);
      else if (key == "unspecified")
        facts.unspecified = texts(node);
      else if (key == "on_cpu")
        facts.on_cpu = texts(node);
      else if (key == "unspecified_for")
        facts.unspecified_for = texts(node);
      else if (key == "spec")
        read_spec(table(node), facts);
      else if (key == "waivers")
        subject.waivers = by_name(node);
      else
        subject.devices[std::string(key)] = device(table(node));
    }
    return subject;
  }

 private:
  [[noreturn]] void wrong(const toml::node& node) const {
    throw SetupError(
        fmt::format("{}:{}: this is no line of a ledger; check out the file, or run `opgate accept` again",
                    file_.string(), static_cast<unsigned>(node.source().begin.line)));
  }
  SetupError not_whole() const {
    return SetupError(fmt::format(
        "{}: this file is {}; check it out, or remove it and run `opgate accept` again", file_.string(),
        table_.empty() ? "empty" : "no whole file of a ledger: it has no schema and kernels"));
  }
  bool flag(const toml::node& node) const {
    if (!node.is_boolean()) wrong(node);
    return *node.value<bool>();
  }
  AccuracyFacts accuracy(const toml::node& node) const {
    const auto known = accuracy_from(text(node));
    if (!known) wrong(node);
    return *known;
  }
  void read_spec(const toml::table& described, SubjectFacts& facts) const {
    for (const auto& [key_, node] : described) {
      const std::string_view key = key_.str();
      if (key == "dtypes") {
        for (const auto& [device, names] : table(node))
          facts.dtypes[std::string(device.str())] = texts(names);
      } else if (key == "samples") {
        facts.samples = by_name(node);
      } else if (key == "rejections") {
        facts.rejections = by_name(node);
      } else if (key == "benches") {
        facts.benches = by_name(node);
      } else if (key == "speed_limits") {
        for (const auto& [bench, ratio] : table(node))
          facts.speed_limits[std::string(bench.str())] = value<double>(ratio);
      } else {
        wrong(node);
      }
    }
  }
  std::map<std::string, std::string> by_name(const toml::node& node) const {
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : table(node)) all[std::string(name.str())] = text(value);
    return all;
  }
  template <class Value>
  Value value(const toml::node& node) const {
    const auto found = node.value<Value>();
    if (!found || node.is_boolean()) wrong(node);
    return *found;
  }
  std::string text(const toml::node& node) const {
    if (!node.is_string()) wrong(node);
    return value<std::string>(node);
  }
  const toml::table& table(const toml::node& node) const {
    if (!node.is_table()) wrong(node);
    return *node.as_table();
  }
  std::vector<std::string> texts(const toml::node& node) const {
    if (!node.is_array()) wrong(node);
    std::vector<std::string> words;
    for (const toml::node& word : *node.as_array()) words.push_back(text(word));
    return words;
  }

  template <class Value>
  std::map<std::string, ByDtype<Value>> by_dtype(const toml::node& node) const {
    std::map<std::string, ByDtype<Value>> all;
    for (const auto& [key, values] : table(node)) {
      for (const auto& [dtype, number] : table(values))
        all[std::string(key.str())][std::string(dtype.str())] = static_cast<Value>(read<Value>(number));
    }
    return all;
  }
  template <class Value>
  auto read(const toml::node& node) const {
    if constexpr (std::is_same_v<Value, std::string>) {
      return text(node);
    } else if constexpr (std::is_same_v<Value, size_t>) {
      return value<int64_t>(node);
    } else {
      return value<double>(node);
    }
  }

  CheckedDtypes group(const toml::node& node) const {
    CheckedDtypes checks;
    for (const auto& [check, dtypes] : table(node)) {
      std::istringstream words(text(dtypes));
      for (std::string word; words >> word;) checks[std::string(check.str())].insert(word);
    }
    return checks;
  }

  PlannedCases planned(const toml::table& described) const {
    PlannedCases planned;
    const toml::node* samples = described.get("planned");
    if (samples == nullptr) return planned;
    for (const auto& [sample, by_group] : table(*samples)) {
      for (const auto& [name, variants] : table(by_group)) {
        const toml::node* checks = described.get(name);
        if (checks == nullptr) wrong(variants);
        const CheckedDtypes checked = group(*checks);
        for (const std::string& variant : texts(variants))
          planned.add(std::string(sample.str()), variant, checked);
      }
    }
    return planned;
  }

  DeviceState device(const toml::table& described) const {
    DeviceState device;
    device.planned = planned(described);
    for (const auto& [key_, node] : described) {
      const std::string_view key = key_.str();
      if (key == "planned" || key.starts_with(kGroup))
        continue;  // read above
      else if (key == "owed")
        device.owed = by_dtype<size_t>(node);
      else if (key == "everything" && text(node) == "owed")
        device.owed = of_calls(device.planned.count());
      else if (key == "values")
        device.values = by_dtype<std::string>(node);
      else if (key == "reference")
        device.reference = by_dtype<std::string>(node);
      else if (key == "machines")
        device.machines = machines(table(node));
      else if (key == "outputs")
        device.outputs = by_dtype<std::string>(node);  // by sample and variant
      else
        wrong(node);
    }
    return device;
  }

  std::map<std::string, MachineResults> machines(const toml::table& described) const {
    std::map<std::string, MachineResults> all;
    for (const auto& [machine, results] : described) {
      for (const auto& [key, node] : table(results)) {
        if (key == "worst")
          all[std::string(machine.str())].worst = by_dtype<double>(node);
        else if (key == "bits")
          all[std::string(machine.str())].bits = by_dtype<std::string>(node);
        else if (key == "speed")
          all[std::string(machine.str())].speed = by_dtype<double>(node);
        else
          wrong(node);
      }
    }
    return all;
  }

  const fs::path& file_;
  const toml::table& table_;
};

}  // namespace

std::string ledger_text(const std::string& id, const SubjectState& subject) {
  std::string text = fmt::format(
      "# {}, as it was accepted: written by `opgate accept`, compared with by `opgate gate`.\n", id);
  append_spec(text, subject.facts);
  append_texts(text, "waivers", subject.waivers);
  for (const auto& [name, device] : subject.devices) append_device(text, name, device);
  return text;
}

State read_ledger(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw SetupError(
        fmt::format("there is no ledger {}; after a run, `opgate accept` writes the first", folder.string()));
  }
  State state;
  for (const fs::path& file : toml_files_of(folder)) {
    const toml::table table = parsed_toml(file, kWriter);
    state[id_of_toml(file)] = Reader(file, table).subject();
  }
  return state;
}

LedgerChanges write_ledger(const fs::path& folder, const State& state, bool partial) {
  LedgerChanges changes;
  // All files are written before any is put in its place: a full disk must not leave half of a state.
  std::vector<AtomicFile> written;
  for (const auto& [id, subject] : state) {
    const fs::path file = toml_file(folder, id);
    const std::string text = ledger_text(id, subject);
    const bool is_new = !fs::exists(file);
    if (!is_new && content_of(file) == text) {
      changes.unchanged.push_back(id);
      continue;
    }
    written.emplace_back(file, text);
    (is_new ? changes.added : changes.changed).push_back(id);
  }
  for (AtomicFile& file : written) file.commit();
  if (partial || !fs::is_directory(folder)) return changes;
  for (const fs::path& file : toml_files_of(folder)) {
    if (state.contains(id_of_toml(file))) continue;
    fs::remove(file);
    changes.removed.push_back(id_of_toml(file));
  }
  return changes;
}

}  // namespace opgate
