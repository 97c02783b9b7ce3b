#include "watch/tools.h"

#include <opgate_sim.h>

#include <algorithm>
#include <array>

#include "watch/tool.h"

namespace opgate::simulator {

// Each in the folder of its tool.
std::unique_ptr<Tool> make_init_tool(const WatchedLaunch& launch);
std::unique_ptr<Tool> make_race_tool(const WatchedLaunch& launch);
std::unique_ptr<Tool> make_sync_tool(const WatchedLaunch& launch);
std::unique_ptr<Tool> make_stream_tool(const WatchedLaunch& launch);
std::unique_ptr<Tool> make_traffic_tool(const WatchedLaunch& launch);

namespace tools {

struct Row {
  std::string_view name;
  bool Tools::*watches;
  std::unique_ptr<Tool> (*make)(const WatchedLaunch& launch);
};

constexpr std::array kRows{
    Row{"init", &Tools::init, &make_init_tool},
    Row{"race", &Tools::race, &make_race_tool},
    Row{"sync", &Tools::sync, &make_sync_tool},
    Row{"stream", &Tools::stream, &make_stream_tool},
    Row{OPGATE_SIM_COUNTING_TOOL, &Tools::traffic, &make_traffic_tool},
};

// Whether the header of the simulator names these tools, and no others.
constexpr bool are_declared() {
  std::string_view left = OPGATE_SIM_TOOL_NAMES;
  for (const Row& row : kRows) {
    if (!left.starts_with(row.name)) return false;
    left.remove_prefix(row.name.size());
    left.remove_prefix(left.starts_with(',') ? 1 : 0);
  }
  return left.empty();
}
static_assert(are_declared(), "OPGATE_SIM_TOOL_NAMES in opgate_sim.h names the tools in this order");

}  // namespace tools

std::string Tools::names() {
  std::string all;
  for (const tools::Row& row : tools::kRows) {
    if (!all.empty()) all += &row == &tools::kRows.back() ? " and " : ", ";
    all += row.name;
  }
  return all;
}

bool Tools::any() const {
  return std::ranges::any_of(tools::kRows, [this](const tools::Row& row) { return this->*row.watches; });
}

Tools Tools::parse(std::string_view words, std::string& unknown) {
  Tools tools;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    const auto* const row = std::ranges::find(tools::kRows, word, &tools::Row::name);
    if (row != tools::kRows.end()) {
      tools.*row->watches = true;
    } else if (!word.empty()) {
      unknown = word;
    }
  }
  return tools;
}

std::vector<std::unique_ptr<Tool>> Tools::make(const WatchedLaunch& launch) const {
  std::vector<std::unique_ptr<Tool>> made;
  for (const tools::Row& row : tools::kRows) {
    if (this->*row.watches) made.push_back(row.make(launch));
  }
  return made;
}

}  // namespace opgate::simulator
