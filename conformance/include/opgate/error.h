// The errors that are the user's to mend: a wrong spec, configuration, command or library. Each message says
// what is wrong, where, and what to do. The command line prints them as one line and exits with 2.
#pragma once

#include <stdexcept>

namespace opgate {

struct SetupError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A spec that contradicts itself or the operator's schema; the message begins with file:line.
struct SpecError : SetupError {
  using SetupError::SetupError;
};

}  // namespace opgate
