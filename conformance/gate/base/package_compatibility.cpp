#include "gate/base/package_compatibility.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "device/accelerator.h"
#include "process/run_program.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr size_t kPackageErrorLines = 3;
constexpr std::chrono::seconds kLimit{300};  // for one package: each call is made twice, once in eager

json read_json(const fs::path& file) {
  std::ifstream stream(file);
  const json read = json::parse(stream, nullptr, /*allow_exceptions=*/false);
  return read.is_object() ? read : json::object();
}

// Reads what the packages of the head's own run returned: a digest of the tensors, by call.
std::map<std::string, std::string> digests_of(const fs::path& output) {
  std::map<std::string, std::string> digests;
  for (const c10::DeviceType device : device_types()) {
    const json of_device = read_json(output / "packages" / (device_name(device) + ".python.json"));
    for (const auto& [call, digest] : of_device.items()) digests[call] = digest;
  }
  return digests;
}

// Collects what `opgate aoti --json` reports about one package.
class Answers {
 public:
  Answers(OldPackage& package, const std::map<std::string, std::string>& head)
      : package_(package), head_(head) {}

  void take(const json& line) {
    if (line.contains("owed")) package_.owed = line.at("owed");
    if (line.contains("problem")) note("", line.at("problem"), "");
    if (line.contains("call")) take_call(line);
    finished_ = line.contains("finished");
  }

  void note(const std::string& op, const std::string& what, const std::string& call) {
    const auto same_op = [&](const OldPackage::Problem& problem) { return problem.op == op; };
    const auto known = std::ranges::find_if(package_.problems, same_op);
    if (known == package_.problems.end()) {
      package_.problems.push_back({op, what, call, 0});
    } else {
      ++known->others;
    }
  }

  // True if the process reported everything before it ended.
  bool is_whole() const { return finished_; }

 private:
  void take_call(const json& line) {
    const std::string call = line.at("call");
    std::string problem = line.at("differs");
    if (line.at("kind") == "model") {
      const auto now = head_.find(call);
      if (now == head_.end()) {
        ++package_.unknown;
        return;
      }
      if (now->second != line.at("digest"))
        problem = "it returns other values than a package that is compiled now";
    }
    if (problem.empty()) {
      ++package_.answered;
    } else {
      note(line.at("op"), problem, call);
    }
  }

  OldPackage& package_;
  const std::map<std::string, std::string>& head_;
  bool finished_ = false;
};

}  // namespace

std::vector<fs::path> packages_in(const fs::path& output) {
  std::vector<fs::path> files;
  for (const c10::DeviceType device : device_types()) {
    const json made = read_json(output / "packages" / (device_name(device) + ".json"));
    for (const json& package : made.value("packages", json::array())) {
      if (!package.value("needs_python", false))
        files.push_back(output / "packages" / package.at("file").get<std::string>());
    }
  }
  return files;
}

std::vector<OldPackage> ask_packages(const std::vector<fs::path>& packages, const Setup& head,
                                     const fs::path& output) {
  const std::map<std::string, std::string> digests = digests_of(output);
  const fs::path log = output / "old-package.log";
  const fs::path answers_file = output / "old-package.jsonl";
  std::vector<OldPackage> all;
  for (const fs::path& file : packages) {
    OldPackage& package = all.emplace_back();
    package.file = file.string();
    Command aoti{{this_executable(), "aoti", file, "--any-schema", "--json", answers_file}};
    for (const std::string& library : head.libraries)
      aoti.words.insert(aoti.words.end(), {"--library", library});
    fs::remove(answers_file);
    const int status = run_to_end(aoti, fs::current_path(), log, Errors::logged, kLimit);
    Answers answers(package, digests);
    std::ifstream said(answers_file);
    for (std::string text; std::getline(said, text);) {
      const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
      if (line.is_object()) answers.take(line);  // a process that crashed may have left half a line
    }
    if (answers.is_whole()) continue;
    answers.note("",
                 fmt::format("the process that runs the package ended with {}: {}", ending(status),
                             fmt::join(last_lines(log, kPackageErrorLines), " | ")),
                 "");
  }
  return all;
}

}  // namespace opgate
