#include "gate/ledger.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/files.h"
#include "gate/toml_text.h"
#include "spec/subject_facts.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWriter = "`opgate accept`";

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

void append_device(std::string& text, const std::string& name, const DeviceState& device) {
  const bool all_owed = device.owed == device.cases;
  if (all_owed) text += fmt::format("\n[{}]\neverything = \"owed\"  # no machine has checked it\n", name);
  append_table(text, name + ".cases", "how many are planned, by check", device.cases);
  if (!all_owed) append_table(text, name + ".owed", "of those, what no machine has checked", device.owed);
  append_table(text, name + ".worst", "error in ulps, by check", device.worst);
  append_table(text, name + ".speed", "times that of its baseline, and an interval", device.speed);
  append_table(text, name + ".bits", "digests of what contiguous calls return, by sample", device.bits);
  for (const auto& [sample, by_variant] : device.outputs) {
    text += fmt::format("\n[{}.outputs.{}]\n", name, toml_string(sample));
    for (const auto& [variant, output] : by_variant)
      text += fmt::format("{} = {}\n", toml_string(variant), toml_string(output));
  }
}

// Reads one file of the ledger, and reports errors with file and line.
class Reader {
 public:
  Reader(const fs::path& file, const toml::table& table) : file_(file), table_(table) {}

  SubjectState subject() {
    SubjectState subject;
    for (const auto& [key_, node] : table_) {
      const std::string_view key = key_.str();
      if (key == "schema")
        subject.facts.schema = text(node);
      else if (key == "kernels")
        subject.facts.kernels = texts(node);
      else if (key == "promises")
        subject.facts.promises = texts(node);
      else if (key == "ulps")
        subject.facts.ulps = value<double>(node);
      else if (key == "measured")
        subject.measured = text(node);
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

  const toml::node& cases_of(const toml::table& described, const toml::node& request) const {
    const toml::node* cases = described.get("cases");
    if (cases == nullptr) wrong(request);
    return *cases;
  }

  DeviceState device(const toml::table& described) const {
    DeviceState device;
    for (const auto& [key_, node] : described) {
      const std::string_view key = key_.str();
      if (key == "cases")
        device.cases = by_dtype<size_t>(node);
      else if (key == "owed")
        device.owed = by_dtype<size_t>(node);
      else if (key == "everything" && text(node) == "owed")
        device.owed = by_dtype<size_t>(cases_of(described, node));
      else if (key == "worst")
        device.worst = by_dtype<double>(node);
      else if (key == "speed")
        device.speed = by_dtype<double>(node);
      else if (key == "bits")
        device.bits = by_dtype<std::string>(node);
      else if (key == "outputs")
        device.outputs = by_dtype<std::string>(node);  // by sample and variant
      else
        wrong(node);
    }
    return device;
  }

  const fs::path& file_;
  const toml::table& table_;
};

}  // namespace

std::string ledger_text(const std::string& id, const SubjectState& subject) {
  std::string text = fmt::format(
      "# {}, as it was accepted: written by `opgate accept`, compared with by `opgate gate`.\n", id);
  const SubjectFacts& facts = subject.facts;
  text += fmt::format("schema = {}\nkernels = {}\npromises = {}\n", toml_string(facts.schema),
                      list(facts.kernels), list(facts.promises));
  if (facts.ulps) text += fmt::format("ulps = {:.4g}  # of the reference\n", *facts.ulps);
  text += fmt::format("measured = {}\n", toml_string(subject.measured));
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
