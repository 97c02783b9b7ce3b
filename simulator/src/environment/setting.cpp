#include "environment/setting.h"

#include <array>
#include <cstdlib>
#include <string_view>

namespace opgate::simulator {
namespace environment_settings {

struct Row {
  const char* name;       ///< without the prefix
  const char* otherwise;  ///< the value if it is missing or empty
  const char* reader;     ///< the file that reads it
  const char* meaning;
};

// In the order of the enumeration.
constexpr std::array kRows{
    Row{"APPROXIMATE", "exact", "numbers/approximation.cpp",
        "where results of approximate instructions lie: `exact`, or as far below or above it as the manual "
        "of PTX allows: `low`, `high`"},
    Row{"ARCH", "90", "runtime/devices/settings.cpp",
        "the compute capability without its dot: limits of launches, and which PTX of a fat binary runs"},
    Row{"ATEN_AT_ONCE", "0", "runtime/devices/settings.cpp",
        "1: ATen's operators run when they are called, and not in the order of their stream; OpGate's Python "
        "workers set it, except in checks of this order"},
    Row{"AUTOTUNE", "first", "runtime/devices/settings.cpp",
        "whether a kernel of Triton with several configurations runs with the `first` that works, or `all` "
        "of "
        "them run on the inputs of its calls"},
    Row{"CACHE", "", "compiled/object_cache.cpp",
        "where compiled kernels are kept; if it is empty, in `opgate/kernels` below `$XDG_CACHE_HOME` or "
        "`~/.cache`"},
    Row{"CC", "", "compiled/c_compiler.cpp",
        "the C compiler of kernels; if it is empty, the first of `cc`, `gcc` and `clang` that runs"},
    Row{"COMPARE", "", "kernels/launch_comparison.cpp",
        "a file: each launch is executed twice, interpreted and compiled, what both leave is compared, and "
        "the "
        "file gets a line for the launch; empty: launches are executed once"},
    Row{"COMPILE", "automatic", "compiled/compilation.cpp",
        "`never`, `always` or `automatic`: whether kernels are compiled, which does not change their "
        "results"},
    Row{"DEVICES", "2", "runtime/devices/settings.cpp",
        "how many devices there are, 1 to 8; code that mixes devices is noticed only if there are two"},
    Row{"EAGER", "0", "runtime/devices/settings.cpp",
        "1: each operation runs when it is issued, and not as late as a device may run it"},
    Row{"FILL", "255", "runtime/devices/settings.cpp",
        "the byte that new memory holds: 255 makes a NaN in every floating type"},
    Row{"HOST_MEMORY", "0", "environment/memory_limit.cpp",
        "how many megabytes of the machine's memory a process may take, shared by the workers of "
        "pytest-xdist; 0: 85 % of what the machine has"},
    Row{"INSTRUCTIONS", "0", "runtime/devices/settings.cpp",
        "how many PTX instructions a launch may execute before it counts as hanging; 0: no limit"},
    Row{"LATE_STORES", "0", "runtime/devices/settings.cpp",
        "seed of how late stores to device memory become visible to other blocks, as far as the memory "
        "consistency model of PTX allows; 0: at once"},
    Row{"LOG", "0", "runtime/devices/settings.cpp",
        "1: modules, launches and copies are written to stderr, which is the worker's log"},
    Row{"MEMORY", "16384", "runtime/devices/settings.cpp", "megabytes of each device"},
    Row{"PTXAS", "0", "ptxas/main.cpp",
        "1: the real ptxas compiles each kernel of Triton, too, so that its errors are seen"},
    Row{"RECOVER", "0", "runtime/devices/settings.cpp",
        "1: after a fault, the devices work again once a function has failed with its error; otherwise all "
        "later functions fail, as on a GPU"},
    Row{"REPORT", "", "runtime/findings/report.cpp",
        "a file to which each finding is appended as a line of JSON"},
    Row{"SCHEDULE", "", "runtime/devices/settings.cpp",
        "which blocks and warps of a launch go first, instead of a seed: `launch 2 of twice: blocks 3 1 "
        "and warps 1 of block 0`; everything else goes by index"},
    Row{"SHUFFLE", "1", "runtime/devices/settings.cpp", "seed of the orders of blocks; 0: by index"},
    Row{"THREADS", "0", "compiled/compilation.cpp",
        "how many threads run the blocks of a large launch in compiled code, 1 to 256; 0: as many as the "
        "machine has processors; workers of `opgate run` that run beside others have 1"},
    Row{"TOOLS", "", "runtime/devices/settings.cpp",
        "which of the tools `init`, `race`, `sync`, `stream` and `traffic` watch kernels, with commas "
        "between "
        "them"},
};
static_assert(kRows.size() == static_cast<std::size_t>(Setting::tools) + 1);

const Row& row_of(Setting setting) { return kRows[static_cast<std::size_t>(setting)]; }

}  // namespace environment_settings

std::string name_of(Setting setting) {
  return std::string(kSettingPrefix) + environment_settings::row_of(setting).name;
}

std::string default_of(Setting setting) { return environment_settings::row_of(setting).otherwise; }

std::string value_of(Setting setting) {
  const char* const text = std::getenv(name_of(setting).c_str());
  return text == nullptr || *text == '\0' ? default_of(setting) : text;
}

std::string assignment(Setting setting) { return name_of(setting) + "=" + value_of(setting); }

std::vector<std::string> names_of_settings() {
  std::vector<std::string> names;
  for (const environment_settings::Row& row : environment_settings::kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace opgate::simulator
