// The remarks of the gate as text, for the terminal.
#pragma once

#include <string>

#include "gate/rule.h"

namespace opgate {

/// How many remarks are of that kind.
size_t count_of(const Remarks& remarks, Remark::Kind kind);

/// One line for each remark of that kind, and one for the case or line that shows it.
std::string in_lines(const Remarks& remarks, Remark::Kind kind);

}  // namespace opgate
