#include "mutation/mutant.h"

#include <sstream>

namespace opgate {

std::string in_one_line(const std::string& source) {
  std::istringstream words(source);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string shown_source(const std::string& source) {
  constexpr size_t kLongestLine = 140;
  if (source.empty()) return "(nothing)";
  const std::string line = in_one_line(source);
  return line.size() <= kLongestLine ? line : line.substr(0, kLongestLine) + " ...";
}

}  // namespace opgate
