#include "mutation/mutant.h"

#include <sstream>

namespace opgate {

std::string in_one_line(const std::string& source) {
  std::istringstream words(source);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace opgate
