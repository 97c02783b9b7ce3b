// The errors that a user can fix: a wrong spec, configuration, command or library. Each message says what
// is wrong, where, and what to do. The command line prints it as one line and exits with 2.
#pragma once

#include <stdexcept>

namespace opgate {

/// A configuration, command, library or spec is wrong.
struct SetupError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A spec contradicts itself or the operator's schema. The message begins with file:line.
struct SpecError : SetupError {
  using SetupError::SetupError;
};

}  // namespace opgate
