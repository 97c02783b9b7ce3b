#include "cli/results/simulator_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/terminal/terminal.h"

namespace opgate {
namespace {

using nlohmann::json;
using PlaceOfFinding = std::tuple<std::string, std::string, std::string, std::string, std::string>;

// Which thread it was, or in which stream an operation was.
std::string thread_at(const json& place) {
  if (place.contains("stream")) {
    const auto stream = place.at("stream").get<unsigned long long>();
    return stream == 0 ? "the host" : fmt::format("stream {}", stream);
  }
  return fmt::format("block {}, thread {}", fmt::join(place.at("block").get<std::vector<unsigned>>(), ","),
                     fmt::join(place.at("thread").get<std::vector<unsigned>>(), ","));
}

SimulatorFinding read_finding(const json& line) {
  SimulatorFinding finding{.tool = line.value("tool", ""),
                           .text = line.value("message", ""),
                           .error = line.value("error", ""),
                           .kernel = line.value("kernel", ""),
                           .location = line.value("location", ""),
                           .other = "",
                           .count = line.value("count", size_t{1})};
  if (line.contains("place")) {
    finding.text += fmt::format(" ({})", thread_at(line["place"]));
    finding.location = line["place"].value("location", "");
  }
  if (line.contains("other")) {
    const json& other = line["other"];
    const std::string location = other.value("location", "");
    finding.other = fmt::format("{}{} ({})", other.value("instruction", ""),
                                location.empty() ? "" : " at " + location, thread_at(other));
  }
  return finding;
}

// Where there is no kernel, the text says what it was.
PlaceOfFinding place_of(const SimulatorFinding& finding) {
  return {finding.tool, finding.error, finding.kernel,
          finding.kernel.empty() ? finding.text : finding.location,
          finding.other.substr(0, finding.other.find(" (block"))};
}

std::string describe(size_t number, const SimulatorFinding& finding) {
  std::string text = fmt::format("{:2} {}: {}\n", number, coloured(Colour::bold, finding.tool), finding.text);
  if (!finding.kernel.empty()) text += fmt::format("   kernel   {}\n", finding.kernel);
  if (!finding.location.empty()) text += fmt::format("   at       {}\n", finding.location);
  if (!finding.other.empty()) text += fmt::format("   and      {}\n", finding.other);
  if (!finding.error.empty() && finding.tool != "api") text += fmt::format("   error    {}\n", finding.error);
  if (finding.count > 1) text += fmt::format("   seen     {} times\n", finding.count);
  return text;
}

}  // namespace

SimulatorReport read_simulator_report(const std::filesystem::path& file, const std::set<std::string>& tools) {
  std::ifstream lines(file);
  if (!lines) throw SetupError(fmt::format("the report {} cannot be read", file.string()));
  SimulatorReport report;
  std::map<PlaceOfFinding, size_t> position;
  for (std::string line; std::getline(lines, line);) {
    const json parsed = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_object()) continue;  // the last line of a process that was killed
    const SimulatorFinding finding = read_finding(parsed);
    if (finding.tool == "start") {
      ++report.processes;
    } else if (finding.tool == "unsupported") {
      if (std::ranges::find(report.unsupported, finding.text) == report.unsupported.end())
        report.unsupported.push_back(finding.text);
    } else if (tools.contains(finding.tool)) {
      const auto [known, is_new] = position.try_emplace(place_of(finding), report.findings.size());
      if (is_new)
        report.findings.push_back(finding);
      else
        report.findings[known->second].count += finding.count;
    }
  }
  return report;
}

std::string describe(const SimulatorReport& report) {
  std::string text;
  for (size_t i = 0; i < report.findings.size(); ++i) text += describe(i + 1, report.findings[i]);
  if (!report.unsupported.empty())
    text += fmt::format("not simulated, so that what depends on it is not known: {}\n",
                        fmt::join(report.unsupported, ", "));
  return text;
}

}  // namespace opgate
