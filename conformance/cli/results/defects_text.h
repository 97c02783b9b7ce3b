// The defects of a run as text for the terminal.
#pragma once

#include <string>
#include <vector>

#include "defects/defect.h"

namespace opgate {

/// A paragraph for each of the first `most` defects: its cause, what was seen, the call that shows it, and
/// the command that repeats it. Then how many more there are, by severity. `options` go into the commands: "
/// --config my.toml". Empty without defects.
std::string defects_text(const std::vector<Defect>& defects, size_t most, const std::string& options);

}  // namespace opgate
