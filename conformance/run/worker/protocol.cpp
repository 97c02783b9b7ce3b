#include "run/worker/protocol.h"

#include "base/json_fields.h"

namespace opgate {

static void to_json(nlohmann::json& text, Worker kind) { text = to_string(kind); }
static void from_json(const nlohmann::json& text, Worker& kind) {
  kind = worker_from_string(text.get<std::string>());
}

std::optional<std::string> broken_setup(const nlohmann::json& message) {
  if (!message.contains("broken")) return std::nullopt;
  const nlohmann::json& why = message.at("broken");
  return why.is_string() ? why.get<std::string>() : why.dump();
}

OPGATE_JSON_FIELDS(Setup, libraries, native, specs, modules, namespaces, packages, models, python_kernels,
                   mutant, simulated, modules_need_device, memory, checks, filter, plan, worker, regressions,
                   recorded, samples, outputs)

}  // namespace opgate
