#include "python/binding/devices.h"

#include <fmt/format.h>

#include "device/device.h"
#include "device/simulator.h"

namespace opgate {

std::map<std::string, std::string> device_types_with_keys() {
  std::map<std::string, std::string> keys;
  for (const c10::DeviceType device : device_types())
    keys[c10::DeviceTypeName(device, /*lower_case=*/true)] = device_title(device);
  return keys;
}

void enable_simulator() { enable_simulated_device(DeviceAllocator::guarded); }

std::optional<std::tuple<std::string, bool, bool, std::string, std::string>> simulated_failure() {
  const auto failure = take_simulated_failure();
  if (!failure) return std::nullopt;
  const std::string said =
      failure->device_failed ? fmt::format("{} ({})", failure->error, failure->what) : failure->what;
  return std::tuple{said, failure->device_failed, failure->unsupported, failure->frame(), failure->error};
}

}  // namespace opgate
