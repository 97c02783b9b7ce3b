// Ctrl-C and SIGTERM: remembered, so that a run ends in good order.
#pragma once

#include <exception>

namespace opgate {

/// Thrown where nothing is worth keeping yet; the command line exits with 130.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

/// From now on SIGINT and SIGTERM are remembered and no longer end the process; SIGPIPE is ignored.
void watch_signals();

bool interrupted();

}  // namespace opgate
