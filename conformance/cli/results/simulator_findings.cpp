#include "cli/results/simulator_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "base/errors.h"
#include "cli/terminal/terminal.h"

namespace opgate {
namespace {

using Report = simulator::Finding;

// The first one and how many more.
std::string in_short(const std::vector<std::string>& tests) {
  if (tests.empty()) return "";
  return tests.size() == 1 ? tests.front() : fmt::format("{} and {} more", tests.front(), tests.size() - 1);
}

std::string describe(size_t number, const Report& finding, const std::vector<std::string>& tests,
                     const OrderOfFinding& order) {
  std::string text = fmt::format("{:2} {}: {}\n", number, coloured(Colour::bold, name_of(finding.kind)),
                                 with_actor(finding.message, finding.place));
  const auto add = [&](std::string_view what, const std::string& is) {
    if (!is.empty()) text += fmt::format("   {:<8} {}\n", what, is);
  };
  add("kernel", finding.kernel);
  add("at", finding.place.location);
  if (finding.other)
    add(finding.kind == Report::Kind::init ? "used by" : "and",
        with_actor(access_at(*finding.other), *finding.other));
  if (finding.kind != Report::Kind::api) add("error", finding.error);
  if (finding.count > 1) add("seen", fmt::format("{} times", finding.count));
  add("test", in_short(tests));
  add("order", order.words);
  add("repeat", order.repeat);
  return text;
}

}  // namespace

SimulatorReport read_simulator_report(const std::filesystem::path& file, const std::set<std::string>& tools) {
  std::ifstream lines(file);
  if (!lines) throw setup_error("the report {} cannot be read", file.string());
  SimulatorReport report;
  std::map<simulator::PlaceOfFinding, size_t> position;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Report> finding = simulator::finding_from_line(line);
    if (!finding) continue;
    if (finding->kind == Report::Kind::start) {
      ++report.processes;
    } else if (finding->kind == Report::Kind::schedule) {
      report.followed.insert(finding->message);
    } else if (finding->kind == Report::Kind::unsupported) {
      if (std::ranges::find(report.unsupported, finding->message) == report.unsupported.end())
        report.unsupported.push_back(finding->message);
    } else if (tools.contains(std::string(name_of(finding->kind)))) {
      const auto [known, is_new] = position.try_emplace(place_of(*finding), report.findings.size());
      const size_t i = known->second;
      if (is_new) {
        report.findings.push_back(*finding);
        report.tests.emplace_back();
      } else {
        report.findings[i].count += finding->count;
      }
      if (!finding->test.empty() &&
          std::ranges::find(report.tests[i], finding->test) == report.tests[i].end())
        report.tests[i].push_back(finding->test);
    }
  }
  return report;
}

std::string describe(const SimulatorReport& report, const OrdersOfFindings& orders) {
  std::string text;
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const auto order = orders.find(i);
    text += describe(i + 1, report.findings[i], report.tests[i],
                     order == orders.end() ? OrderOfFinding{} : order->second);
  }
  if (!report.unsupported.empty())
    text += fmt::format("not simulated, so that what depends on it is not known: {}\n",
                        fmt::join(report.unsupported, ", "));
  return text;
}

}  // namespace opgate
