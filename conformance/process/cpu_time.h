// How long this process has run on processors, which does not depend on what else the machine does.
#pragma once

#include <ctime>

namespace opgate {

/// The seconds of all its threads together.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace opgate
