#include "bench/stopwatch.h"

#include <chrono>

#include "device/accelerator.h"

namespace opgate {

double seconds_of(c10::DeviceType device, const std::function<void()>& work) {
  if (device != c10::kCPU) return accelerator(device).services().seconds(work);
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace opgate
