#include "simulator/runtime/settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "simulator/compiled/c_compiler.h"
#include "simulator/compiled/compilation_settings.h"
#include "simulator/numbers/approximation.h"
#include "simulator/runtime/architecture.h"
#include "simulator/runtime/report.h"

extern char** environ;

namespace opgate::simulator {
namespace settings_from_environment {

constexpr std::uint64_t kMostMegabytes = std::uint64_t{1}
                                         << 20;  // of which the addresses of eight devices fit
constexpr std::string_view kPrefix = "OPGATE_SIM_";
// Those that are read elsewhere, too.
constexpr std::array<std::string_view, 16> kNames{
    "APPROXIMATE", "ARCH",         "ATEN_AT_ONCE", "CACHE",  "CC",      "COMPILE", "DEVICES", "EAGER",
    "FILL",        "INSTRUCTIONS", "LOG",          "MEMORY", "RECOVER", "REPORT",  "SHUFFLE", "TOOLS"};

// Reads variables, and keeps what is wrong with their values.
class Reader {
 public:
  // `otherwise` where the variable is missing or empty.
  std::uint64_t number(const char* name, std::uint64_t otherwise, std::uint64_t least, std::uint64_t most) {
    const std::string text = value(name);
    if (text.empty()) return otherwise;
    char* end = nullptr;
    errno = 0;
    const std::uint64_t read = std::strtoull(text.c_str(), &end, 0);
    const bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    if (is_number && read >= least && read <= most) return read;
    refuse(name, "give a number from " + std::to_string(least) + " to " + std::to_string(most));
    return otherwise;
  }

  std::uint64_t number(const char* name, std::uint64_t otherwise) {
    return number(name, otherwise, 0, UINT64_MAX);
  }

  bool flag(const char* name) { return number(name, 0, 0, 1) != 0; }

  unsigned architecture(unsigned otherwise) {
    const auto read = static_cast<unsigned>(number("OPGATE_SIM_ARCH", otherwise, 0, UINT32_MAX));
    const std::vector<unsigned> known = known_capabilities();
    if (std::ranges::find(known, read) != known.end()) return read;
    std::string all;
    for (const unsigned each : known) all += (all.empty() ? "" : ", ") + std::to_string(each);
    refuse("OPGATE_SIM_ARCH", "give one of " + all);
    return otherwise;
  }

  // No tool at all where one of the words is wrong: whoever has mistyped a name must not take silence for a result.
  Tools tools() {
    std::string unknown;
    const Tools tools = Tools::parse(value("OPGATE_SIM_TOOLS"), unknown);
    if (unknown.empty()) return tools;
    refuse(
        "OPGATE_SIM_TOOLS",
        "`" + unknown + "` is no tool: give some of init, race, sync and stream, with commas between them");
    return {};
  }

  // What is read where kernels are: only whether it can be read.
  void demand_readable(void (*read)()) {
    try {
      read();
    } catch (const std::runtime_error& error) {
      wrong_.emplace_back(error.what());
    }
  }

  void demand_compiler() {
    if (!value("OPGATE_SIM_CC").empty() && !CCompiler::find(""))
      refuse("OPGATE_SIM_CC", "it is no C compiler: `--version` fails");
  }

  void demand_known_names() {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      if (!text.starts_with(kPrefix)) continue;
      const std::string_view name = text.substr(0, text.find('='));
      if (std::ranges::find(kNames, name.substr(kPrefix.size())) != kNames.end()) continue;
      std::string all;
      for (const std::string_view each : kNames) all += (all.empty() ? "" : ", ") + std::string(each);
      wrong_.push_back(std::string(name) + ": there is no such setting; after OPGATE_SIM_ there are " + all);
    }
  }

  std::vector<std::string> take_wrong() { return std::move(wrong_); }

 private:
  static std::string value(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? "" : text;
  }

  void refuse(const char* name, const std::string& wanted) {
    wrong_.push_back(std::string(name) + "=" + value(name) + ": " + wanted);
  }

  std::vector<std::string> wrong_;
};

struct Read {
  Settings settings;
  std::vector<std::string> wrong;
};

Read read() {
  const Settings defaults;
  Settings values;
  Reader reader;
  values.devices = static_cast<int>(reader.number("OPGATE_SIM_DEVICES", defaults.devices, 1, 8));
  values.architecture = reader.architecture(defaults.architecture);
  values.memory_bytes = reader.number("OPGATE_SIM_MEMORY", defaults.memory_bytes >> 20, 1, kMostMegabytes)
                        << 20;
  values.eager = reader.flag("OPGATE_SIM_EAGER");
  values.fill = static_cast<unsigned char>(reader.number("OPGATE_SIM_FILL", defaults.fill, 0, 255));
  values.instruction_limit = reader.number("OPGATE_SIM_INSTRUCTIONS", defaults.instruction_limit);
  values.shuffle = reader.number("OPGATE_SIM_SHUFFLE", defaults.shuffle);
  values.log = reader.flag("OPGATE_SIM_LOG");
  values.recover = reader.flag("OPGATE_SIM_RECOVER");
  values.aten_at_once = reader.flag("OPGATE_SIM_ATEN_AT_ONCE");
  values.tools = reader.tools();
  reader.demand_readable([] { approximation_edge(); });
  reader.demand_readable([] { CompilationSettings::from_environment(); });
  reader.demand_compiler();
  reader.demand_known_names();
  return {values, reader.take_wrong()};
}

// A program that was started with a wrong setting must not run without it.
Settings read_or_end() {
  constexpr int kWrongSetUp = 2;
  const Read answer = read();
  if (answer.wrong.empty()) return answer.settings;
  report_start();
  for (const std::string& wrong : answer.wrong) report_notice(wrong);
  _exit(kWrongSetUp);
}

}  // namespace settings_from_environment

const Settings& settings() {
  static const Settings values = settings_from_environment::read_or_end();
  return values;
}

std::vector<std::string> wrong_settings() { return settings_from_environment::read().wrong; }

}  // namespace opgate::simulator
