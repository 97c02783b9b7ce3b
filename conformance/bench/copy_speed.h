// How fast memory can be moved here: what an operator's own traffic is held against.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <map>
#include <tuple>

namespace opgate {

class CopySpeed {
 public:
  /// Seconds of a plain copy that reads one half of `bytes` and writes the other: memcpy by the intra-op
  /// threads in use on the CPU, a copy on the device itself on CUDA. Measured once for each size, device and
  /// number of threads.
  double seconds(int64_t bytes, c10::DeviceType device);

 private:
  std::map<std::tuple<int64_t, c10::DeviceType, int>, double> known_;
};

}  // namespace opgate
