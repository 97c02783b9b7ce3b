#include "gate/waivers.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include <toml++/toml.h>
#include <algorithm>

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAllOperators = "*";  // for a remark that is about all operators
constexpr auto kRule = "waiver";

std::string date_text(const toml::node& node) {
  const auto date = node.value<toml::date>();
  return date ? fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day) : "";
}

Waiver waiver_from(const toml::table& table, const fs::path& file) {
  Waiver waiver;
  waiver.where = fmt::format("{}:{}", file.string(), static_cast<unsigned>(table.source().begin.line));
  for (const auto& [key_, node] : table) {
    const std::string_view key = key_.str();
    const std::string text = node.value_or(std::string());
    if (key == "check")
      waiver.check = text;
    else if (key == "op")
      waiver.op = text;
    else if (key == "reason")
      waiver.reason = text;
    else if (key == "issue")
      waiver.issue = text;
    else if (key == "expires")
      waiver.expires = date_text(node);
    else
      throw SetupError(
          fmt::format("{}:{}: `{}` is no word of a waiver; there are check, op, reason, issue "
                      "and expires",
                      file.string(), static_cast<unsigned>(node.source().begin.line), key));
  }
  const auto demand = [&](const std::string& value, std::string_view what, std::string_view example) {
    if (value.empty())
      throw SetupError(fmt::format("{}: this waiver has no {}: add {}", waiver.where, what, example));
  };
  demand(waiver.check, "check", "check = \"value.layout\"");
  demand(waiver.op, "operator", "op = \"layer_norm\"");
  demand(waiver.reason, "reason", "reason = \"why it may be broken until then\"");
  demand(waiver.issue, "issue", "issue = \"https://...\", where the fix is tracked");
  demand(waiver.expires, "end", "expires = 2026-12-31, a date without quotes");
  return waiver;
}

// Applies the waiver and returns how many remarks it matches. It also matches notes: what fails in the
// base, too, is only a note now, but will be refused once this commit is the base.
size_t use(const Waiver& waiver, Remarks& remarks) {
  size_t used = 0;
  for (Remark& remark : remarks) {
    const bool for_all = remark.op.empty() && waiver.op == kAllOperators;
    if (remark.kind == Remark::Kind::better || remark.rule != waiver.check ||
        (remark.op != waiver.op && !for_all))
      continue;
    remark.kind = Remark::Kind::note;
    remark.what += fmt::format("; waived until {}: {} ({})", waiver.expires, waiver.reason, waiver.issue);
    ++used;
  }
  return used;
}

}  // namespace

std::vector<Waiver> read_waivers(const fs::path& file) {
  std::vector<Waiver> waivers;
  if (file.empty()) return waivers;
  if (!fs::exists(file)) {
    throw SetupError(
        fmt::format("there is no {}: create it, even if it is empty, or remove `waivers` from "
                    "opgate.toml",
                    file.string()));
  }
  toml::table table;
  try {
    table = toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    throw SetupError(fmt::format("{}:{}: {}", file.string(), static_cast<unsigned>(error.source().begin.line),
                                 error.description()));
  }
  for (const auto& [key, node] : table) {
    if (key != "waiver" || !node.is_array_of_tables()) {
      throw SetupError(fmt::format("{}:{}: there are only [[waiver]] tables in this file", file.string(),
                                   static_cast<unsigned>(node.source().begin.line)));
    }
    for (const toml::node& entry : *node.as_array()) waivers.push_back(waiver_from(*entry.as_table(), file));
  }
  return waivers;
}

void apply_waivers(const std::vector<Waiver>& waivers, const std::string& today, const Change& change,
                   Remarks& remarks) {
  for (const Waiver& waiver : waivers) {
    const auto refuse = [&](std::string what) {
      remarks.push_back({Remark::Kind::refused, kRule, waiver.op, std::move(what), waiver.where});
    };
    if (waiver.expires < today) {
      refuse(fmt::format("the waiver of {} expired on {}: fix the operator, or agree on another date ({})",
                         waiver.check, waiver.expires, waiver.issue));
    } else if (use(waiver, remarks) == 0) {
      const bool not_run = change.partial && !change.head.state.contains(waiver.op);
      // Not every run of the gate judges these two rules.
      const bool not_asked = (waiver.check == "package.stale" && change.packages.empty()) ||
                             (waiver.check == "speed.slower" && change.speeds.empty());
      if (!not_run && !not_asked)
        refuse(fmt::format("the waiver of {} waives nothing: remove it", waiver.check));
    }
  }
  std::ranges::stable_sort(remarks, {}, &Remark::kind);
}

}  // namespace opgate
