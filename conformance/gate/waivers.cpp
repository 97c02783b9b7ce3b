#include "gate/waivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "base/errors.h"
#include "base/files/toml_nodes.h"
#include "base/text.h"
#include "plan/patterns.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAllOperators = "*";  // for a remark that is about all operators

std::string date_text(const toml::node& node) {
  const auto date = node.value<toml::date>();
  return date ? fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day) : "";
}

constexpr std::array<std::pair<std::string_view, std::string Waiver::*>, 7> kTexts{{
    {"check", &Waiver::check},
    {"op", &Waiver::op},
    {"reason", &Waiver::reason},
    {"issue", &Waiver::issue},
    {"dtype", &Waiver::dtype},
    {"device", &Waiver::device},
    {"defect", &Waiver::defect},
}};

Waiver waiver_from(const toml::table& table, const TomlNodes& nodes) {
  Waiver waiver;
  waiver.where = nodes.place(table);
  for (const auto& [key, node] : table) {
    const auto text = std::ranges::find(kTexts, key.str(), [](const auto& row) { return row.first; });
    if (text != kTexts.end())
      waiver.*text->second = node.value_or(std::string());
    else if (key == "expires")
      waiver.expires = date_text(node);
    else
      throw setup_error(
          "{}: `{}` is no word of a waiver; there are check, op, reason, issue, "
          "expires, dtype, device and defect",
          nodes.place(node), key.str());
  }
  const auto demand = [&](const std::string& value, std::string_view what, std::string_view example) {
    if (value.empty()) throw setup_error("{}: this waiver has no {}: add {}", waiver.where, what, example);
  };
  demand(waiver.check, "check", "check = \"value.layout\"");
  demand(waiver.op, "operator", "op = \"layer_norm\"");
  demand(waiver.reason, "reason", "reason = \"why it may be broken until then\"");
  demand(waiver.issue, "issue", "issue = \"https://...\", where the fix is tracked");
  demand(waiver.expires, "end", "expires = 2026-12-31, a date without quotes");
  if (waiver.check == kWaiverRule)
    throw setup_error("{}: the rule of waivers cannot be waived: remove this waiver", waiver.where);
  return waiver;
}

// Applies the waiver and returns how many remarks it matches. It also matches notes: what fails in the
// base, too, is only a note now, but will be refused once this commit is the base.
size_t use(const Waiver& waiver, Remarks& remarks) {
  size_t used = 0;
  for (Remark& remark : remarks) {
    if (remark.kind == Remark::Kind::better || !covers(waiver, remark)) continue;
    remark.kind = Remark::Kind::note;
    remark.what += fmt::format("; waived until {}: {} ({})", waiver.expires, waiver.reason, waiver.issue);
    ++used;
  }
  return used;
}

}  // namespace

std::string today() {
  constexpr size_t kLength = std::string_view("2026-11-22").size();
  return timestamp().substr(0, kLength);
}

std::string day_after(const std::string& day, int64_t days) {
  int year = 0;
  unsigned month = 0, of_month = 0;
  std::sscanf(day.c_str(), "%d-%u-%u", &year, &month, &of_month);
  const std::chrono::sys_days first =
      std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(of_month);
  const std::chrono::year_month_day last(first + std::chrono::days(days));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(last.year()), static_cast<unsigned>(last.month()),
                     static_cast<unsigned>(last.day()));
}

bool is_of_check(const Remark& remark) {
  return remark.rule != kWaiverRule && Registry<Rule>::instance().find(remark.rule) == nullptr;
}

bool covers(const Waiver& waiver, const Remark& remark) {
  const bool for_all = remark.op.empty() && waiver.op == kAllOperators;
  if (remark.rule != waiver.check || (remark.op != waiver.op && !for_all)) return false;
  if (remark.ended && waiver.defect.empty()) return false;
  const bool only_dtype = remark.dtypes == std::set<std::string>{waiver.dtype};
  return (waiver.dtype.empty() || only_dtype) && (waiver.device.empty() || remark.device == waiver.device) &&
         remark.what.find(waiver.defect) != std::string::npos;
}

void note_waivers(const WaiverFile& file, State& state) {
  for (const Waiver& waiver : file.waivers) {
    const auto subject = state.find(waiver.op);
    if (subject == state.end()) continue;
    std::string what = waiver.check;
    for (const std::string* limit : {&waiver.dtype, &waiver.device, &waiver.defect}) {
      if (!limit->empty()) what += ", " + *limit;
    }
    subject->second.waivers[what] =
        fmt::format("until {}: {} ({})", waiver.expires, waiver.reason, waiver.issue);
  }
}

WaiverFile read_waivers(const fs::path& file) {
  WaiverFile read;
  if (file.empty()) return read;
  if (!fs::exists(file)) {
    throw setup_error("there is no {}: create it, even if it is empty, or remove `waivers` from opgate.toml",
                      file.string());
  }
  const TomlNodes nodes(file, "there are only [[waiver]] tables and max_days in this file");
  const toml::table table = parsed_toml(file);
  for (const auto& [key, node] : table) {
    if (key == "max_days") {
      read.max_days = node.value_or<int64_t>(0);
      if (read.max_days <= 0)
        throw SetupError(nodes.place(node) + ": max_days is a number of days, such as 90");
      continue;
    }
    if (key != "waiver" || !node.is_array_of_tables()) nodes.wrong(node);
    for (const toml::node& entry : *node.as_array())
      read.waivers.push_back(waiver_from(*entry.as_table(), nodes));
  }
  return read;
}

void apply_waivers(const WaiverFile& file, const std::string& today, const Change& change, Remarks& remarks) {
  for (const Waiver& waiver : file.waivers) {
    const auto refuse = [&](std::string what) {
      remarks.push_back({Remark::Kind::refused, kWaiverRule, waiver.op, std::move(what), waiver.where});
    };
    if (waiver.expires < today) {
      refuse(fmt::format("the waiver of {} expired on {}: fix the operator, or agree on another date ({})",
                         waiver.check, waiver.expires, waiver.issue));
    } else if (const std::string last = day_after(today, file.max_days); waiver.expires > last) {
      refuse(fmt::format("the waiver of {} ends on {}, and no waiver may end after {} ({} days, `max_days`)",
                         waiver.check, waiver.expires, last, file.max_days));
    } else if (use(waiver, remarks) == 0) {
      const bool not_run = change.partial && !change.head.state.contains(waiver.op);
      // Not every run of the gate judges these two rules.
      const bool not_asked = (waiver.check == "package.stale" && change.packages.empty()) ||
                             (waiver.check == "speed.slower" && change.speeds.empty());
      const bool not_checked = !change.checks.empty() && !selects_check(change.checks, waiver.check);
      if (!not_run && !not_asked && !not_checked)
        refuse(fmt::format("the waiver of {} waives nothing: remove it", waiver.check));
    }
  }
  std::ranges::stable_sort(remarks, {}, &Remark::kind);
}

}  // namespace opgate
