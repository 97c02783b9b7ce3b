#include "cli/results/bench_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/dtypes.h"
#include "cli/terminal/terminal.h"
#include "inputs/call_key.h"
#include "spec/spec.h"

namespace opgate {
namespace {

using Row = std::array<std::string, 12>;

constexpr size_t kVerdictColumn = 8;
constexpr std::string_view kNothing = ".";

Colour colour_of(const BenchResult& result) {
  switch (result.verdict) {
    case BenchResult::Verdict::met:
      return Colour::green;
    case BenchResult::Verdict::measured:
      return Colour::faint;
    case BenchResult::Verdict::unclear:
    case BenchResult::Verdict::owed:
      return Colour::yellow;
    case BenchResult::Verdict::missed:
    case BenchResult::Verdict::wrong:
    case BenchResult::Verdict::raised:
      break;
  }
  return Colour::red;
}

Row row_of(const BenchCase& bench, const BenchResult& result) {
  Row row;
  row.fill(std::string(kNothing));
  row[0] = bench.spec->id;
  row[1] = bench.bench->sample.name;
  row[2] = dtype_name(bench.bench->dtype);
  row[3] = to_string(bench.direction);
  row[4] = device_name(bench.device);
  if (bench.threads > 0) row[5] = fmt::format("{}", bench.threads);
  if (bench.limit()) row[7] = fmt::format("{:.3g}", *bench.limit());
  row[kVerdictColumn] = to_string(result.verdict);
  if (!result.measured) return row;
  const Measurement& figures = *result.measured;
  row[6] = fmt::format("{:.3g} [{:.3g}, {:.3g}]", figures.ratio, figures.interval.low, figures.interval.high);
  row[9] = format_time(figures.op_seconds);
  row[10] = format_time(figures.baseline_seconds);
  if (result.copy_seconds) {
    const double share = result.share_of_copy_speed();
    row[11] = share > kMostOfCopySpeed
                  ? "impossible"
                  : fmt::format("{:.3g} ({:.0f} %)", result.gigabytes_per_second(), 100 * share);
  }
  return row;
}

std::string padded(const Row& row, const std::array<size_t, 12>& widths, const Colour* verdict) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string cell = fmt::format("{:{}}", row[i], widths[i]);
    line +=
        (i == 0 ? "" : "  ") + (verdict != nullptr && i == kVerdictColumn ? coloured(*verdict, cell) : cell);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string format_time(double seconds) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits{
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  for (const auto& [unit, name] : kUnits) {
    if (seconds >= unit || unit == kUnits.back().first) return fmt::format("{:.3g} {}", seconds / unit, name);
  }
  return "";
}

std::string format_bench_table(const BenchResults& results) {
  const Row header{"op",           "bench", "dtype",   "direction", "device",   "threads",
                   "ratio [95 %]", "limit", "verdict", "op time",   "baseline", "GB/s (of copy)"};
  std::vector<Row> rows;
  std::array<size_t, 12> widths{};
  const auto widen = [&](const Row& row) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  widen(header);
  for (const auto& [bench, result] : results) widen(rows.emplace_back(row_of(bench, result)));
  std::string text = padded(header, widths, nullptr);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Colour colour = colour_of(results[i].second);
    text += padded(rows[i], widths, &colour);
  }
  return text;
}

namespace {

// The first line is enough for the terminal: torch's messages also list where every kernel of the process
// was registered. bench.jsonl has the whole text.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string why(const BenchCase& bench, const BenchResult& result) {
  if (result.verdict == BenchResult::Verdict::wrong)
    return "not timed; compared with the baseline (want), " + result.reason;
  if (result.verdict == BenchResult::Verdict::raised) return first_line(result.reason);
  return fmt::format("at most {:.3g} times as fast as the baseline, but the limit is {:.3g} times",
                     result.measured->interval.high, *bench.limit());
}

}  // namespace

std::string format_bench_findings(const BenchResults& results) {
  std::string text;
  const BenchCase* last = nullptr;
  for (const auto& [bench, result] : results) {
    if (result.is_accepted()) continue;
    BenchCase shown = bench;
    if (result.verdict != BenchResult::Verdict::missed) {  // the same with any number of threads
      if (last != nullptr && last->same_pair(bench)) continue;
      shown.threads = 0;
      last = &bench;
    }
    text += fmt::format("{} {}\n  {}\n", coloured(Colour::red, to_string(result.verdict)), describe(shown),
                        why(bench, result));
    if (!result.names_place) text += fmt::format("  {}\n", bench.bench->sample.where);
  }
  return text;
}

std::string format_bench_summary(const BenchResults& results) {
  std::map<BenchResult::Verdict, size_t> counts;
  std::set<std::string> owed;
  for (const auto& [bench, result] : results) {
    ++counts[result.verdict];
    if (result.verdict == BenchResult::Verdict::owed) owed.insert(result.reason);
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts)
    parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  return fmt::format("{}{}", fmt::join(parts, ", "),
                     owed.empty() ? "" : fmt::format(" (owed: {})", fmt::join(owed, "; ")));
}

}  // namespace opgate
