#include "base/text.h"

#include <fmt/chrono.h>

#include <ctime>

namespace opgate {

std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace opgate
