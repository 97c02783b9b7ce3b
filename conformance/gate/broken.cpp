#include "gate/broken.h"

#include <fmt/format.h>

#include <functional>

namespace opgate {

size_t Broken::hash_of(std::string_view case_id, Verdict verdict) {
  return std::hash<std::string>()(fmt::format("{} {}", case_id, to_string(verdict)));
}

}  // namespace opgate
