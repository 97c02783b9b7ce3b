#include "simulator/runtime/settings.h"

#include <algorithm>
#include <cstdlib>

#include "simulator/runtime/report.h"

namespace opgate::simulator {
namespace settings_from_environment {

// `otherwise` where the variable is missing, empty or not a number.
std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 0);
  if (*end == '\0') return value;
  report_notice(std::string(name) + "=" + text + " is not a number; " + std::to_string(otherwise) +
                " is used");
  return otherwise;
}

// No tool at all where one of the words is wrong: whoever has mistyped a name must not take silence for a result.
Tools tools() {
  const char* const text = std::getenv("OPGATE_SIM_TOOLS");
  std::string unknown;
  const Tools tools = Tools::parse(text == nullptr ? "" : text, unknown);
  if (unknown.empty()) return tools;
  report_notice(std::string("OPGATE_SIM_TOOLS=") + text + " names no tool with `" + unknown +
                "` (there are init, race, sync and stream); none is used");
  return {};
}

Settings read() {
  const Settings defaults;
  Settings values;
  values.devices =
      static_cast<int>(std::clamp<std::uint64_t>(number("OPGATE_SIM_DEVICES", defaults.devices), 1, 8));
  values.architecture = static_cast<unsigned>(number("OPGATE_SIM_ARCH", defaults.architecture));
  values.memory_bytes = number("OPGATE_SIM_MEMORY", defaults.memory_bytes >> 20) << 20;
  values.eager = number("OPGATE_SIM_EAGER", 0) != 0;
  values.fill = static_cast<unsigned char>(number("OPGATE_SIM_FILL", defaults.fill));
  values.instruction_limit = number("OPGATE_SIM_INSTRUCTIONS", defaults.instruction_limit);
  values.shuffle = number("OPGATE_SIM_SHUFFLE", defaults.shuffle);
  values.log = number("OPGATE_SIM_LOG", 0) != 0;
  values.recover = number("OPGATE_SIM_RECOVER", 0) != 0;
  values.aten_at_once = number("OPGATE_SIM_ATEN_AT_ONCE", 0) != 0;
  values.tools = tools();
  return values;
}

}  // namespace settings_from_environment

const Settings& settings() {
  static const Settings values = settings_from_environment::read();
  return values;
}

}  // namespace opgate::simulator
