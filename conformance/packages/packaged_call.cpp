#include "packages/packaged_call.h"

#include <fmt/format.h>

namespace opgate {

Outcome packaged_call(PackageFolder& folder, const CallKey& key) {
  const std::string id = call_id(key);
  try {
    Package& package = folder.package_of(key.device, id);
    const auto& outputs = package.run();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (package.calls()[i].id != id) continue;
      return {{outputs[i].begin(), outputs[i].end()}, std::nullopt, {}};
    }
    return {{},
            Raised{fmt::format("the package {} does not hold this call", package.file().filename().string())},
            {}};
  } catch (const c10::Error& error) {
    return {{}, Raised{error.what_without_backtrace()}, {}};
  } catch (const std::exception& error) {
    return {{}, Raised{error.what()}, {}};
  }
}

}  // namespace opgate
