#include "run/package_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>

#include "judging/verdict.h"
#include "process/command.h"

namespace opgate {

using nlohmann::json;
namespace fs = std::filesystem;

void PackageJobs::add(bool simulated, const Calls& calls, const CaseSet& todo, Queue& queue) const {
  std::map<std::string, json> packaged;
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    if (calls.simulated(call) != simulated || std::ranges::none_of(todo.of(call), &Check::needs_package))
      continue;
    packaged[calls.device_name(call)].push_back(calls.id(call));
  }
  for (const auto& [device, ids] : packaged) {
    fs::remove(folder_ / (device + ".json"));
    fs::remove(at_of(device));
    const json package{{"device", device},
                       {"calls", ids},
                       {"ended", json::object()},
                       {"seconds", limits_.python_case.count()}};
    queue.add_preparation({{"package", package}}, limits_.package);
    queue.add_preparation({{"run_package", {{"device", device}}}}, limits_.python_case);
  }
}

void PackageJobs::note_failure(const json& preparation, const Judgement& lost, Queue& queue) const {
  if (!preparation.contains("package")) return;  // each case repeats a "run_package" that failed
  const json& package = preparation.at("package");
  if (const auto without = without_culprit(package, lost)) {
    queue.put_back({.preparation = {{"package", *without}}, .limit = limits_.package});
    return;
  }
  const std::string device = package.at("device");
  std::ofstream(folder_ / (device + ".json")) << json{{"error", lost.reason}}.dump() << "\n";
}

// While Python makes packages, this file names what it works on: the ids of the calls that it exports, or
// the name of the package that it runs, and the text to report if the worker ends there.
fs::path PackageJobs::at_of(const std::string& device) const { return folder_ / (device + ".at.json"); }

// The same package without the calls or packages that killed or hung the worker; none if the worker
// was not working on one.
std::optional<json> PackageJobs::without_culprit(json package, const Judgement& lost) const {
  const fs::path file = at_of(package.at("device"));
  std::ifstream stream(file);
  const json at = json::parse(stream, nullptr, /*allow_exceptions=*/false);
  std::error_code failed;
  if (!at.is_object() || !fs::remove(file, failed)) return std::nullopt;
  const std::string why =
      lost.ended != signal_name(SIGALRM)
          ? lost.reason
          : fmt::format("it took longer than {} s, which is the limit (--python-time-limit)",
                        package.at("seconds").get<int64_t>());
  for (const json& culprit : at.at("culprits")) {
    package["ended"][culprit.get<std::string>()] =
        fmt::format("{}: {}", at.at("failed").get<std::string>(), why);
  }
  return package;
}

}  // namespace opgate
