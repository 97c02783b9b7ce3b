// Which device is current, and what the program can ask about devices.
#pragma once

#include <driver_types.h>

#include <optional>

namespace opgate::simulator::devices {

/// For the calling thread; 0 at first.
int current();

/// Refuses with cudaErrorInvalidDevice.
void set_current(int device);
void require(int device);

/// Makes another device current for a time.
class Scope {
 public:
  explicit Scope(int device) : former_(current()) { set_current(device); }
  ~Scope() { set_current(former_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  int former_;
};

cudaDeviceProp properties(int device);

/// None for an attribute that is not known here.
std::optional<int> attribute(cudaDeviceAttr attribute, int device);

}  // namespace opgate::simulator::devices
