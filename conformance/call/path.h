// A way to run an operator. One file each in paths/, found by registration.
#pragma once

#include "base/registry.h"
#include "call/evidence.h"

namespace opgate {

struct Path {
  std::string_view name;
  /// Runs the call that `evidence.key()` names. An exception of the operator is part of the observation; what
  /// it throws itself is a fault of the set-up.
  Observation (*run)(Evidence& evidence);
};

}  // namespace opgate

#define OPGATE_REGISTER_PATH(identifier, ...)                  \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::Path>::instance().add(__VA_ARGS__)
