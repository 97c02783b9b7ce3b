// The only way to silence anything: a committed file of exceptions, each with a reason, an issue and an end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/rule.h"

namespace opgate {

/// One table [[waiver]] of the file.
struct Waiver {
  std::string check;    ///< a check that is broken, or a rule of the gate
  std::string op;       ///< id
  std::string reason;   ///< for the reader
  std::string issue;    ///< a link
  std::string expires;  ///< the last day, "2026-12-31"
  std::string where;    ///< file:line
};

/// Reads the file; none where the path is empty. Throws SetupError, with file and line, for what is missing
/// or is no word of a waiver.
std::vector<Waiver> read_waivers(const std::filesystem::path& file);

/// Takes the refusals out of `remarks` that a waiver is for, and says so in notes; refuses where a waiver has
/// expired by `today` (UTC, "2026-11-22") or was not used. Where only `some` operators were run, waivers of
/// the others need not be used.
void apply_waivers(const std::vector<Waiver>& waivers, const std::string& today, const Change& change,
                   Remarks& remarks);

}  // namespace opgate
