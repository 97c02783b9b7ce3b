// The two forms in which builds keep what a compiler read: rules of a Makefile (*.d), as compilers write
// them, and what `ninja -t deps` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opgate {

/// One object, or precompiled header, and the files that the compiler read for it: its sources and everything
/// that they include. All paths are as the build tool wrote them.
struct DependencyRule {
  std::string output;
  std::vector<std::string> files;

  bool operator==(const DependencyRule&) const = default;
};

/// The rules of a dependency file that have prerequisites; a rule without any says only that the file exists.
std::vector<DependencyRule> rules_of_makefile(std::string_view text);

std::vector<DependencyRule> rules_of_ninja(std::string_view text);

}  // namespace opgate
