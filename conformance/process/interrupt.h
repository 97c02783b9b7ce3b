// Remembers Ctrl-C (SIGINT) and SIGTERM, so that a run can write its results before it ends.
#pragma once

#include <exception>

namespace opgate {

/// Thrown where there are no results to keep yet; the command line exits with 130.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

/// From now on SIGINT and SIGTERM are remembered and no longer end the process; SIGPIPE is ignored.
void watch_signals();

/// True once SIGINT or SIGTERM was received.
bool interrupted();

}  // namespace opgate
