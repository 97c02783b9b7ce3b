// The remarks of the gate as text, for the terminal.
#pragma once

#include <string>

#include "gate/rule.h"

namespace opgate {

/// How many remarks are of that kind.
size_t count_of(const Remarks& remarks, Remark::Kind kind);

/// What is refused: "2 defects and 1 other reason".
std::string refusals_text(const Remarks& remarks);

/// The defects of a run beside those of its base: "2 new defects, 1 gone, 3 as in the base".
std::string defects_beside(const RunState& base, const RunState& head);

/// One line for each remark of that kind, and one for the case or line that shows it. For refusals of one
/// defect, only the first has lines of its own; it names the checks of the others.
std::string in_lines(const Remarks& remarks, Remark::Kind kind);

}  // namespace opgate
