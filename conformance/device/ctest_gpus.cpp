#include "device/ctest_gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "base/errors.h"
#include "device/accelerator.h"

namespace opgate {

void take_ctest_gpus() {
  const char* count = std::getenv("CTEST_RESOURCE_GROUP_COUNT");
  if (count == nullptr) return;
  std::vector<std::string> ids;
  for (int group = 0; group < std::atoi(count); ++group) {
    const std::string name = fmt::format("CTEST_RESOURCE_GROUP_{}_GPUS", group);
    const char* gpus = std::getenv(name.c_str());
    if (gpus == nullptr) continue;
    // "id:0,slots:1;id:2,slots:1"
    std::istringstream list(gpus);
    for (std::string gpu; std::getline(list, gpu, ';');) {
      const auto comma = gpu.find(',');
      if (!gpu.starts_with("id:") || comma == std::string::npos)
        throw setup_error("{}={} is not what ctest says of resources, such as id:0,slots:1; unset it", name,
                          gpus);
      ids.push_back(gpu.substr(3, comma - 3));
    }
  }
  if (ids.empty()) return;
  const std::string variable(accelerator(c10::kCUDA).visible_devices());
  setenv(variable.c_str(), fmt::format("{}", fmt::join(ids, ",")).c_str(), 1);
}

}  // namespace opgate
