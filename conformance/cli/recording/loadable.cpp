#include "cli/recording/loadable.h"

#include <fcntl.h>
#include <opgate/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/files/descriptor.h"
#include "process/libraries/native_libraries.h"
#include "process/run_program.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::vector<std::string> texts(const std::vector<fs::path>& files) {
  std::vector<std::string> all;
  for (const fs::path& file : files) all.push_back(file);
  return all;
}

// Writes the order in which the libraries were loaded to `descriptor`. A library of the user's may end the
// process.
[[noreturn]] void load_in_child(const Recording& recording, int descriptor) {
  std::string said;
  try {
    const NativeLibraries loaded = load_libraries(texts(recording.libraries), python_interpreter(),
                                                  /*modules_may_load=*/false, texts(recording.loaded));
    said = json(loaded.in_order).dump();
  } catch (const SetupError&) {  // reported by `opgate run`
  }
  for (size_t begin = 0; begin < said.size();) {
    const ssize_t written = ::write(descriptor, said.data() + begin, said.size() - begin);
    if (written < 0 && errno != EINTR) break;
    if (written > 0) begin += static_cast<size_t>(written);
  }
  _exit(0);
}

json described(const std::vector<RecordedModule>& modules) {
  json all = json::array();
  for (const RecordedModule& module : modules)
    all.push_back({{"name", module.name}, {"root", module.root.string()}});
  return all;
}

}  // namespace

std::vector<fs::path> libraries_with_needs(const Recording& recording) {
  std::array<int, 2> ends{};
  if (recording.libraries.empty() || pipe2(ends.data(), O_CLOEXEC) != 0) return recording.libraries;
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const pid_t child = fork();
  if (child < 0) return recording.libraries;
  if (child == 0) load_in_child(recording, write_end.get());
  write_end.reset();
  const std::string said = content_until_end(read_end.get());
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  const json order = json::parse(said, nullptr, /*allow_exceptions=*/false);
  if (!order.is_array()) return recording.libraries;
  std::vector<fs::path> libraries;
  for (const std::string file : order) {
    // Not those of torch and Python, which each process finds again.
    if (std::ranges::find(recording.loaded, fs::path(file)) != recording.loaded.end())
      libraries.push_back(file);
  }
  for (const fs::path& library : recording.libraries) {
    if (std::ranges::find(libraries, library) == libraries.end()) libraries.push_back(library);
  }
  return libraries;
}

ImportableModules importable_modules(const Recording& recording, const Programs& programs) {
  ImportableModules found;
  if (recording.modules.empty()) return found;
  Command command = python_command(programs, "opgate.modules.recorded");
  command.words.push_back(json{
      {"modules", described(recording.modules)},
      {"before", described(recording.program)},
      {"environment",
       recording.environment}}.dump());
  const json said = json::parse(output_of(command), nullptr, /*allow_exceptions=*/false);
  if (!said.is_object()) {
    for (const RecordedModule& module : recording.modules)
      found.failed[module.name] = "Python could not be started";
    return found;
  }
  said.at("modules").get_to(found.modules);
  for (const std::string folder : said.at("python_path")) found.python_path.emplace_back(folder);
  said.at("environment").get_to(found.environment);
  said.at("failed").get_to(found.failed);
  return found;
}

}  // namespace opgate
