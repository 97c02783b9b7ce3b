// Remembers Ctrl-C (SIGINT) and SIGTERM, so that a run can write its results before it ends.
#pragma once

#include <exception>

namespace opgate {

/// The exit status of an interrupted `opgate`, which shells also report for a program that Ctrl-C ended.
inline constexpr int kInterruptedStatus = 130;

/// Thrown where there are no results to keep yet; the command line exits with kInterruptedStatus.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

/// From now on SIGINT and SIGTERM are remembered and no longer end the process; SIGPIPE is ignored.
void watch_signals();

/// True once SIGINT or SIGTERM was received.
bool interrupted();

}  // namespace opgate
