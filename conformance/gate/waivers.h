// Waivers: the only way to accept a refusal of the gate. They are a committed file of exceptions, each with
// a reason, a link to an issue and a last day.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/rule.h"

namespace opgate {

/// The rule of refusals about waivers themselves; it cannot be waived.
inline constexpr auto kWaiverRule = "waiver";

/// One table [[waiver]] of the file.
struct Waiver {
  std::string check;    ///< a check that fails, or a rule of the gate
  std::string op;       ///< id, or "*" for a remark that is about all operators
  std::string reason;   ///< for the reader
  std::string issue;    ///< a link
  std::string expires;  ///< the last day, "2026-12-31"
  std::string dtype;    ///< the only dtype that it is for; empty for all
  std::string device;   ///< the only device that it is for; empty for all
  std::string defect;   ///< what the refusal must contain: "SIGSEGV"; a crash or timeout must be named
  std::string where;    ///< file:line
};

/// What the file holds.
struct WaiverFile {
  std::vector<Waiver> waivers;
  int64_t max_days = 90;  ///< how many days after today the last day of a waiver may be
};

/// The day in UTC, as the dates of waivers are written.
std::string today();

/// The day so many days after another one.
std::string day_after(const std::string& day, int64_t days);

/// Whether a check gave the remark, and no rule: a waiver then names the check.
bool is_of_check(const Remark& remark);

/// Whether the waiver is for this remark.
bool covers(const Waiver& waiver, const Remark& remark);

/// Adds the waivers to the states of their operators, by what they are for: "value.layout, float16" = "until
/// 2026-12-31: reason (issue)". Waivers of all operators, and of those that are not in the state, are left
/// out.
void note_waivers(const WaiverFile& file, State& state);

/// Reads the file; there are no waivers if the path is empty. Throws SetupError, with file and line, for a
/// waiver that lacks a key, has an unknown one, or is for the rule of waivers itself.
WaiverFile read_waivers(const std::filesystem::path& file);

/// Turns the refusals in `remarks` that a waiver is for into notes that say so. Adds a refusal for each
/// waiver that has expired by `today` (UTC, "2026-11-22"), ends too late, or was not used. Where only some
/// operators were run, waivers of the others need not be used.
void apply_waivers(const WaiverFile& file, const std::string& today, const Change& change, Remarks& remarks);

}  // namespace opgate
