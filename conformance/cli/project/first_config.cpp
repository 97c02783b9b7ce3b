#include "cli/project/first_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files/atomic_file.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) {
  std::string escaped = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped + '"';
}

// Writes a path relative to `base` with "./" in front, because a library's name without a '/' is looked up
// in other folders.
std::string near(const fs::path& file, const fs::path& base) {
  const fs::path relative = file.lexically_relative(base);
  if (relative == ".") return quoted(".");
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return quoted(inside ? "./" + relative.string() : file.string());
}

}  // namespace

std::optional<Config> config_if_any(const fs::path& named) {
  const std::optional<fs::path> file = named.empty() ? nearest_config() : named;
  return file ? std::optional(read_config(*file)) : std::nullopt;
}

void write_first_config(const fs::path& file, const FirstConfig& settings) {
  const fs::path base = file.parent_path();
  std::string text = "# What OpGate checks.\n";
  const auto add = [&](std::string_view key, const std::vector<std::string>& values) {
    if (!values.empty()) text += fmt::format("{} = [{}]\n", key, fmt::join(values, ", "));
  };
  const auto files = [&](const std::vector<fs::path>& paths) {
    std::vector<std::string> texts;
    for (const fs::path& path : paths) texts.push_back(near(path, base));
    return texts;
  };
  std::vector<std::string> modules;
  for (const std::string& module : settings.modules) modules.push_back(quoted(module));
  add("libraries", files(settings.libraries));
  add("python", modules);
  add("kernels", files(settings.kernels));
  add("python_path", files(settings.python_path));
  if (!settings.environment.empty()) {
    std::vector<std::string> entries;
    for (const auto& [name, value] : settings.environment)
      entries.push_back(fmt::format("{} = {}", name, quoted(value)));
    text += fmt::format("environment = {{ {} }}\n", fmt::join(entries, ", "));
  }
  if (!settings.recorded.empty()) text += fmt::format("recorded = {}\n", near(settings.recorded, base));
  text += "ledger = \"./ledger\"  # `opgate accept` writes the accepted state there\n";
  AtomicFile(file, text).commit();
}

}  // namespace opgate
