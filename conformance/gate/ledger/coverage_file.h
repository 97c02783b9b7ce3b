// The operators that are not covered, as the ledger keeps them: a text file with one name on each line.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace opgate {

/// Names of overloads without a spec and without recorded calls.
using OperatorNames = std::set<std::string>;

/// What the ledger in `folder` says; none if it says nothing, as before the first `opgate accept`.
std::optional<OperatorNames> read_not_covered(const std::filesystem::path& folder);

/// Writes the file, unless it says the same already. Throws SetupError if it cannot be written.
void write_not_covered(const std::filesystem::path& folder, const OperatorNames& names);

}  // namespace opgate
