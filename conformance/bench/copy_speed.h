// The speed of a plain copy on this machine, with which an operator's memory traffic is compared.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <map>
#include <tuple>

namespace opgate {

class CopySpeed {
 public:
  /// The seconds that a plain copy takes which reads one half of `bytes` and writes the other: memcpy by
  /// the current intra-op threads on the CPU, a copy on the device itself on CUDA. It is measured once for
  /// each size, device and number of threads.
  double seconds(int64_t bytes, c10::DeviceType device);
  /// Measures again, and returns the shortest time that was seen.
  double seconds_again(int64_t bytes, c10::DeviceType device);

 private:
  std::map<std::tuple<int64_t, c10::DeviceType, int>, double> known_;
};

}  // namespace opgate
