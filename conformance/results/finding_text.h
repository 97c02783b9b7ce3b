// The one text of a finding: what the program prints, results.jsonl has for the reports, and opgate.check
// raises.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "judging/verdict.h"

namespace opgate {

/// A case with its verdict: a heading, then what was promised, what happened and why, where the operator
/// crashed, and where to read more. The first word is the verdict in capitals. `options` go into the commands
/// (" --config my.toml"); without them, no command repeats the case. Each line ends with '\n'. Throws
/// SetupError for what is not the id of a case.
std::string finding_text(std::string_view case_id, const Judgement& judgement,
                         const std::optional<std::string>& options);

/// A call id as a reader sees it: "row_scale · float32 · 4x6,4 · x=expanded · cpu".
std::string call_text(std::string_view call_id);

}  // namespace opgate
