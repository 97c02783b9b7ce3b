#include "gate/ledger/coverage_file.h"

#include <fstream>

#include "base/files/atomic_file.h"
#include "base/files/files.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// No operator's file has this name: those end in .toml.
fs::path file_in(const fs::path& folder) { return folder / "not_covered.txt"; }

constexpr char kComment = '#';
constexpr std::string_view kHeading =
    "# Operators without a spec and without recorded calls: written by `opgate accept`, compared with by "
    "`opgate gate`.\n";

}  // namespace

std::optional<OperatorNames> read_not_covered(const fs::path& folder) {
  std::ifstream stream(file_in(folder));
  if (!stream) return std::nullopt;
  OperatorNames names;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.front() != kComment) names.insert(line);
  }
  return names;
}

void write_not_covered(const fs::path& folder, const OperatorNames& names) {
  std::string text(kHeading);
  for (const std::string& name : names) text += name + "\n";
  const fs::path file = file_in(folder);
  if (content_of(file) != text) AtomicFile(file, text).commit();
}

}  // namespace opgate
