#include "packages/package_folder.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/files/files.h"
#include "base/sha1.h"
#include "device/simulator.h"
#include "packages/concurrent_runs.h"

namespace opgate {
namespace {

using nlohmann::json;

json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return stream ? json::parse(stream) : json::object();
}

// Throws SetupError if the file has changed. A package with a flipped byte may load and run, so that
// only its digest shows the damage.
void check_unaltered(const std::filesystem::path& file, const std::string& sha1) {
  if (sha1_of(content_of(file)) == sha1) return;
  throw setup_error("{} is not the file that was made (its SHA-1 is another); remove it and run again",
                    file.string());
}

}  // namespace

void PackageFolder::read(Device& device, const std::string& name) {
  const json made = read_json(folder_ / (name + ".json"));
  device.error = made.value("error", made.contains("packages") ? "" : "no package was made in this run");
  if (!device.error.empty()) return;
  made.at("left_out").get_to(device.left_out);
  made.at("not_tried").get_to(device.not_tried);
  for (const json& package : made.at("packages")) {
    for (const json& call : package.at("calls")) device.slot_of_call[call] = device.slots.size();
    device.slots.push_back(
        {folder_ / package.at("file").get<std::string>(), package.at("sha1"), "", nullptr});
  }
  read_json(folder_ / (name + ".python.json")).get_to(device.python_digests);
}

PackageFolder::Device& PackageFolder::device(c10::DeviceType type) {
  if (const auto found = devices_.find(type); found != devices_.end()) return found->second;
  Device& device = devices_[type];
  const std::string name = device_name(type, type == kSimulatedType && is_simulated());
  try {
    read(device, name);
  } catch (const json::exception& error) {
    device.error = fmt::format("{} is damaged: {}", (folder_ / (name + ".json")).string(), error.what());
  }
  return device;
}

PackageFolder::Slot& PackageFolder::slot_of(c10::DeviceType type, const std::string& call) {
  Device& known = device(type);
  if (!known.error.empty()) throw SetupError(known.error);
  const auto found = known.slot_of_call.find(call);
  if (found == known.slot_of_call.end()) {
    const auto reason = known.left_out.find(call);
    throw SetupError(reason == known.left_out.end() ? "no package holds this call" : reason->second);
  }
  Slot& slot = known.slots[found->second];
  if (slot.package == nullptr && slot.error.empty()) {
    try {
      check_unaltered(slot.file, slot.sha1);
      slot.package = std::make_unique<Package>(slot.file);
    } catch (const SetupError& error) {
      slot.error = error.what();
    }
  }
  if (!slot.error.empty()) throw SetupError(slot.error);
  return slot;
}

Package& PackageFolder::package_of(c10::DeviceType type, const std::string& call) {
  return *slot_of(type, call).package;
}

std::string PackageFolder::at_once(c10::DeviceType type, const std::string& call) {
  Slot& slot = slot_of(type, call);
  if (!slot.at_once) slot.at_once = run_at_once(slot.file);
  const auto found = slot.at_once->find(call);
  return found == slot.at_once->end() ? "" : found->second;
}

std::optional<std::string> PackageFolder::python_digest(c10::DeviceType type, const std::string& call) {
  const auto& digests = device(type).python_digests;
  const auto found = digests.find(call);
  if (found == digests.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> PackageFolder::not_tried(c10::DeviceType type, const std::string& call) {
  const auto& untried = device(type).not_tried;
  const auto found = untried.find(call);
  if (found == untried.end()) return std::nullopt;
  return found->second;
}

}  // namespace opgate
