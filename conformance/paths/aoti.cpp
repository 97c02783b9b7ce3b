// The path "aoti": the call as part of the device's AOTInductor package, in this process, without Python.
#include <fmt/format.h>

#include "call/path.h"
#include "paths/package_folder.h"

namespace opgate::aoti {
namespace {

Outcome packaged(PackageFolder& folder, const CallKey& key) {
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

Observation run(Evidence& evidence) {
  return {{}, packaged(evidence.packages(), evidence.key()), {}, {}, {}, false};
}

OPGATE_REGISTER_PATH(aoti, {"aoti", &run});

}  // namespace
}  // namespace opgate::aoti
