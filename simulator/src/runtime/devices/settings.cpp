#include "runtime/devices/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "compiled/c_compiler.h"
#include "compiled/compilation_settings.h"
#include "environment/memory_limit.h"
#include "environment/setting.h"
#include "numbers/approximation.h"
#include "runtime/code/architecture.h"
#include "runtime/findings/report.h"

extern char** environ;

namespace opgate::simulator {
namespace settings_from_environment {

constexpr std::uint64_t kMostMegabytes = std::uint64_t{1}
                                         << 20;  // of which the addresses of eight devices fit
// Reads variables, and keeps what is wrong with their values.
class Reader {
 public:
  std::uint64_t number(Setting setting, std::uint64_t least = 0, std::uint64_t most = UINT64_MAX) {
    if (const auto read = as_number(value_of(setting)); read && *read >= least && *read <= most) return *read;
    refuse(setting, "give a number from " + std::to_string(least) + " to " + std::to_string(most));
    return *as_number(default_of(setting));
  }

  bool flag(Setting setting) { return number(setting, 0, 1) != 0; }

  // Of a setting that is `first` or `all`.
  bool is_all(Setting setting) {
    const std::string text = value_of(setting);
    if (text != "first" && text != "all") refuse(setting, "give first or all");
    return text == "all";
  }

  unsigned architecture() {
    const auto read = static_cast<unsigned>(number(Setting::arch, 0, UINT32_MAX));
    const std::vector<unsigned> known = known_capabilities();
    if (std::ranges::find(known, read) != known.end()) return read;
    std::string all;
    for (const unsigned each : known) all += (all.empty() ? "" : ", ") + std::to_string(each);
    refuse(Setting::arch, "give one of " + all);
    return known.front();
  }

  // No tool at all if one of the words is wrong: a mistyped name must not look like "nothing found".
  Tools tools() {
    std::string unknown;
    const Tools tools = Tools::parse(value_of(Setting::tools), unknown);
    if (unknown.empty()) return tools;
    refuse(Setting::tools,
           "`" + unknown + "` is no tool: give some of " + Tools::names() + ", with commas between them");
    return {};
  }

  // Compiled code begins the threads of a block one after the other.
  std::vector<LaunchSchedule> schedule(bool tools_watch) {
    const std::string text = value_of(Setting::schedule);
    if (text.empty()) return {};
    try {
      std::vector<LaunchSchedule> schedule = schedule_from_text(text);
      if (!tools_watch && std::ranges::any_of(schedule, [](const auto& each) { return !each.warps.empty(); }))
        refuse(Setting::schedule, "warps have an order only if a tool watches kernels");
      return schedule;
    } catch (const std::runtime_error& error) {
      refuse(Setting::schedule, error.what());
      return {};
    }
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
    if (!value_of(Setting::cc).empty() && !CCompiler::find(""))
      refuse(Setting::cc, "it is no C compiler: `--version` fails");
  }

  void demand_known_names() {
    const std::string_view prefix = kSettingPrefix;
    const std::vector<std::string> known = names_of_settings();
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      if (!text.starts_with(prefix)) continue;
      const std::string_view name = text.substr(0, text.find('='));
      if (std::ranges::find(known, name.substr(prefix.size())) != known.end()) continue;
      std::string all;
      for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
      wrong_.push_back(std::string(name) + ": there is no such setting; after OPGATE_SIM_ there are " + all);
    }
  }

  std::vector<std::string> take_wrong() { return std::move(wrong_); }

 private:
  static std::optional<std::uint64_t> as_number(const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const std::uint64_t read = std::strtoull(text.c_str(), &end, 0);
    const bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    return is_number ? std::optional(read) : std::nullopt;
  }

  void refuse(Setting setting, const std::string& wanted) {
    wrong_.push_back(assignment(setting) + ": " + wanted);
  }

  std::vector<std::string> wrong_;
};

struct Read {
  Settings settings;
  std::vector<std::string> wrong;
};

Read read() {
  Settings values;
  Reader reader;
  values.devices = static_cast<int>(reader.number(Setting::devices, 1, 8));
  values.architecture = reader.architecture();
  values.memory_bytes = reader.number(Setting::memory, 1, kMostMegabytes) << 20;
  values.eager = reader.flag(Setting::eager);
  values.fill = static_cast<unsigned char>(reader.number(Setting::fill, 0, 255));
  values.instruction_limit = reader.number(Setting::instructions);
  values.shuffle = reader.number(Setting::shuffle);
  values.late_stores = reader.number(Setting::late_stores);
  values.log = reader.flag(Setting::log);
  values.recover = reader.flag(Setting::recover);
  values.aten_at_once = reader.flag(Setting::aten_at_once);
  values.tools = reader.tools();
  values.autotunes_all = reader.is_all(Setting::autotune);
  values.schedule = reader.schedule(values.tools.any());
  if (!values.schedule.empty()) values.shuffle = 0;
  reader.demand_readable([] { approximation_edge(); });
  reader.demand_readable([] { beyond_memory_limit(); });
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
