#include "gate/evidence/device_evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/errors.h"
#include "base/files/atomic_file.h"
#include "base/files/toml_nodes.h"
#include "gate/broken.h"
#include "gate/evidence/evidence_signature.h"
#include "gate/ledger/toml_text.h"
#include "plan/case_parts.h"
#include "plan/plan.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNamedFiles = 3;   // that a message names
constexpr size_t kDateLength = 10;  // the length of "2026-11-22" in "2026-11-22T..."

std::string text_of(const std::string& op, const std::vector<DeviceEvidence>& all) {
  std::string text = fmt::format(
      "# {}, as machines with other devices saw it: written by `opgate evidence`, good while sources,\n"
      "# torch and the revision of a check are these.\n",
      op);
  for (const DeviceEvidence& one : all) {
    text += fmt::format("\n[[{}]]\nmodel = {}\ntorch = {}\nmodules = {}\nsources = {}\n", one.device,
                        toml_string(one.model), toml_string(one.tested.torch),
                        toml_string(one.tested.modules), toml_string(one.tested.sources));
    for (size_t i = 0; i < one.files_not_followed.size(); ++i) {
      text += fmt::format("{}  {},\n", i == 0 ? "files_not_followed = [\n" : "",
                          toml_string(one.files_not_followed[i]));
    }
    if (!one.files_not_followed.empty()) text += "]\n";
    if (!one.is_older) text += fmt::format("[{}.files_read]  # by the compiler\n", one.device);
    for (const auto& [file, digest] : one.tested.files_read)
      text += fmt::format("{} = {}\n", toml_string(file), toml_string(digest));
    text += fmt::format("[{}.checks]  # that passed\n", one.device);
    for (const auto& [check, passed] : one.checks) {
      text += fmt::format("{} = {{ cases = {}, date = {}, revision = {} }}\n", toml_string(check),
                          passed.cases, toml_string(passed.date), toml_string(passed.revision));
    }
  }
  return text;
}

DeviceEvidence one_from(const std::string& device, const toml::node& node, const fs::path& file) {
  const TomlNodes nodes(file, "this is no line of evidence; check out the file, or remove it");
  DeviceEvidence one;
  one.device = device;
  bool lists_files = false;
  for (const auto& [key_, value] : nodes.table(node)) {
    const std::string_view key = key_.str();
    if (key == "checks") {
      for (const auto& [check, passed] : nodes.table(value)) {
        const toml::table& words = nodes.table(passed);
        const auto cases = words.at_path("cases").value<int64_t>();
        const auto date = words.at_path("date").value<std::string>();
        const auto revision = words.at_path("revision").value<std::string>();
        if (!cases || *cases < 1 || !date || words.size() != (revision ? 3 : 2)) nodes.wrong(passed);
        one.checks[std::string(check.str())] = {static_cast<size_t>(*cases), *date, revision.value_or("")};
      }
      continue;
    }
    if (key == "files_read") {
      lists_files = true;
      one.tested.files_read = nodes.texts_by_name(value);
      continue;
    }
    if (key == "files_not_followed") {
      one.files_not_followed = nodes.texts(value);
      continue;
    }
    if (key == "engine") {  // evidence counted for one state of OpGate's own sources
      one.tested.modules = "unknown";
      one.is_older = true;
      continue;
    }
    const std::map<std::string_view, std::string*> words{{"model", &one.model},
                                                         {"torch", &one.tested.torch},
                                                         {"modules", &one.tested.modules},
                                                         {"sources", &one.tested.sources}};
    const auto word = words.find(key);
    if (word == words.end()) nodes.wrong(value);
    *word->second = nodes.text(value);
  }
  for (const std::string* word : {&one.model, &one.tested.torch, &one.tested.modules, &one.tested.sources}) {
    if (word->empty()) nodes.wrong(node);
  }
  one.is_older = one.is_older || !lists_files;
  return one;
}

bool same_machine(const DeviceEvidence& a, const DeviceEvidence& b) {
  return a.device == b.device && a.model == b.model && a.tested.torch == b.tested.torch;
}

// Merges `one` into the evidence of the same machine and torch, or appends it where there is none.
void put(const DeviceEvidence& one, std::vector<DeviceEvidence>& all) {
  const auto same = std::ranges::find_if(all, [&](const auto& other) { return same_machine(one, other); });
  if (same == all.end()) {
    all.push_back(one);
  } else if (same->tested == one.tested && !same->is_older) {
    same->files_not_followed = one.files_not_followed;
    for (const auto& [check, passed] : one.checks) same->checks[check] = passed;
    for (const std::string& check : one.failed) same->checks.erase(check);
  } else {
    *same = one;
  }
  std::erase_if(all, [](const DeviceEvidence& other) { return other.checks.empty(); });
}

}  // namespace

std::string in_words(const DeviceEvidence& evidence, const std::string& date) {
  return fmt::format("evidence: {}{}{}{}{}", evidence.model, date.empty() ? "" : ", ", date,
                     evidence.signer.empty() ? "" : ", signed by ", evidence.signer);
}

std::string difference(const DeviceEvidence& evidence, const Tested& now) {
  const Tested& then = evidence.tested;
  std::vector<std::string> differences;
  for (const auto& [file, digest] : then.files_read) {
    const std::string& here = now.files_read.at(file);
    if (here != digest)
      differences.push_back(fmt::format("{} {}", file, here.empty() ? "is missing" : "has changed"));
  }
  if (differences.size() > kNamedFiles) {
    const size_t others = differences.size() - kNamedFiles;
    differences.resize(kNamedFiles);
    differences.push_back(fmt::format("{} more files differ", others));
  }
  if (differences.empty() && then.sources != now.sources)
    differences.emplace_back("the sources of the operator have changed");
  if (evidence.is_older) {
    differences.emplace_back("an older OpGate wrote it, without all that it depends on");
  } else if (then.modules != now.modules) {
    differences.emplace_back("the Python modules of the project have changed");
  }
  if (then.torch != now.torch)
    differences.push_back(fmt::format("torch was {} and is {} here", then.torch, now.torch));
  return fmt::format("{}", fmt::join(differences, ", "));
}

std::vector<std::string> uncompiled_of(const SubjectFacts& facts) {
  std::vector<std::string> files;
  for (const auto& [file, digest] : facts.files_read) {
    if (digest.empty()) files.push_back(file);
  }
  return files;
}

Evidences read_evidence(const fs::path& folder, const fs::path& signers) {
  Evidences all;
  if (folder.empty() || !fs::is_directory(folder)) return all;
  for (const fs::path& file : toml_files_of(folder)) {
    const toml::table table = merged_toml(file, "`opgate evidence`");
    std::vector<DeviceEvidence>& of_op = all[id_of_toml(file)];
    const SignatureCheck signature = signers.empty() ? SignatureCheck() : check_signature(file, signers);
    for (const auto& [device, list] : table) {
      if (!list.is_array())
        throw setup_error("{}: this is no file of evidence; check out the file, or remove it", file.string());
      for (const toml::node& one : *list.as_array()) {
        of_op.push_back(one_from(std::string(device.str()), one, file));
        of_op.back().signer = signature.signer;
        of_op.back().not_signed = signature.problem;
      }
    }
  }
  return all;
}

Evidences evidence_of(const RunState& run) {
  if (run.header.filter.chooses_cases()) {
    throw setup_error("{} has only some cases of its checks; run them again without --case",
                      run.file.string());
  }
  Evidences all;
  for (const auto& [id, subject] : run.state) {
    for (const auto& [name, model] : run.header.devices) {
      const auto device = subject.devices.find(name);
      if (device == subject.devices.end() || subject.facts.sources.empty() ||
          !uncompiled_of(subject.facts).empty())
        continue;
      const Tested tested{run.header.torch, run.header.sources, subject.facts.sources,
                          subject.facts.files_read};
      DeviceEvidence one{name, model, tested, {}};
      one.files_not_followed = subject.facts.files_not_followed;
      for (const auto& [check, by_dtype] : device->second.planned.count()) {
        const bool broken = std::ranges::any_of(run.broken, [&](const Broken& group) {
          const CaseParts parts = parts_of_case(group.case_id);
          return parts.op == id && parts.device == name && parts.check == check;
        });
        if (broken) {
          one.failed.insert(check);
        } else if (!device->second.owed.contains(check) && !device->second.by_evidence.contains(check)) {
          const auto revision = run.header.revisions.find(check);
          one.checks[check] = {total(by_dtype), run.header.started.substr(0, kDateLength),
                               revision == run.header.revisions.end() ? "" : revision->second};
        }
      }
      if (!one.checks.empty() || !one.failed.empty()) all[id].push_back(std::move(one));
    }
  }
  return all;
}

std::vector<std::string> with_older_evidence(const fs::path& folder, const Evidences& evidence) {
  Evidences all = read_evidence(folder);
  std::vector<std::string> ids;
  for (const auto& [id, of_op] : evidence) {
    std::vector<DeviceEvidence> alone;
    for (const DeviceEvidence& one : of_op) {
      put(one, all[id]);
      put(one, alone);
    }
    if (text_of(id, all[id]) != text_of(id, alone)) ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> add_evidence(const fs::path& folder, const Evidences& evidence) {
  Evidences all = read_evidence(folder);
  std::vector<std::string> changed;
  std::vector<AtomicFile> files;
  for (const auto& [id, of_op] : evidence) {
    const std::string before = text_of(id, all[id]);
    for (const DeviceEvidence& one : of_op) put(one, all[id]);
    const std::string text = text_of(id, all[id]);
    if (text == before) continue;
    files.emplace_back(toml_file(folder, id), text);
    changed.push_back(id);
  }
  for (AtomicFile& file : files) file.commit();
  return changed;
}

}  // namespace opgate
