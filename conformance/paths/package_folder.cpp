#include "paths/package_folder.h"

#include <c10/util/hash.h>
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace opgate {
namespace {

using nlohmann::json;

json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return stream ? json::parse(stream) : json::object();
}

// A package with a flipped byte loads and runs: whoever keeps a package keeps its digest.
void check_unaltered(const std::filesystem::path& file, const std::string& sha1) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (c10::sha1(bytes).str() == sha1) return;
  throw SetupError(fmt::format(
      "{} is not the file that was made (its SHA-1 is another); remove it and run again", file.string()));
}

}  // namespace

PackageFolder::Entry& PackageFolder::entry(c10::DeviceType device) {
  if (const auto found = entries_.find(device); found != entries_.end()) return found->second;
  Entry& entry = entries_[device];
  const std::string name = device_name(device);
  try {
    const json made = read_json(folder_ / (name + ".json"));
    entry.error = made.value("error", "");
    if (entry.error.empty() && !made.contains("file")) entry.error = "no package was made in this run";
    if (!entry.error.empty()) return entry;
    made.at("left_out").get_to(entry.left_out);
    read_json(folder_ / (name + ".python.json")).get_to(entry.python_digests);
    check_unaltered(folder_ / made.at("file").get<std::string>(), made.at("sha1"));
    entry.package = std::make_unique<Package>(folder_ / made.at("file").get<std::string>());
  } catch (const SetupError& error) {
    entry.error = error.what();
  } catch (const json::exception& error) {
    entry.error = fmt::format("{} is damaged: {}", (folder_ / (name + ".json")).string(), error.what());
  }
  return entry;
}

Package& PackageFolder::package(c10::DeviceType device) {
  Entry& known = entry(device);
  if (!known.error.empty()) throw SetupError(known.error);
  return *known.package;
}

std::optional<std::string> PackageFolder::left_out(c10::DeviceType device, const std::string& call) {
  const auto& calls = entry(device).left_out;
  const auto found = calls.find(call);
  if (found == calls.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> PackageFolder::python_digest(c10::DeviceType device, const std::string& call) {
  const auto& digests = entry(device).python_digests;
  const auto found = digests.find(call);
  if (found == digests.end()) return std::nullopt;
  return found->second;
}

}  // namespace opgate
