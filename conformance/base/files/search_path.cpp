#include "base/files/search_path.h"

#include <cstdlib>

namespace opgate {

std::string before_present(const std::string& first, const char* variable) {
  const char* const present = std::getenv(variable);
  return present == nullptr || *present == '\0' ? first : first + ":" + present;
}

}  // namespace opgate
