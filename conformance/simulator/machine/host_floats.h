// The numbers of floating point of the host, as kernels need them.
#pragma once

#include <cfenv>

namespace opgate::simulator {

/// The host may flush subnormal numbers or round in another direction. Kernels do not, as long as this exists.
class HostFloats {
 public:
  HostFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~HostFloats() { std::fesetenv(&before_); }
  HostFloats(const HostFloats&) = delete;
  HostFloats& operator=(const HostFloats&) = delete;

 private:
  std::fenv_t before_{};
};

}  // namespace opgate::simulator
