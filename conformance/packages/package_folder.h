// The packages of one run. DEVICE.json lists them, their calls, and the calls that could not be packaged;
// DEVICE.python.json has the digests of what they returned in Python. Both are written by
// python/opgate/packages/package.py.
#pragma once

#include <c10/core/DeviceType.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "packages/package.h"

namespace opgate {

class PackageFolder {
 public:
  explicit PackageFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The package that holds this call, loaded at the first request. Throws SetupError, always with the same
  /// message, where no package holds the call or the package cannot be loaded.
  Package& package_of(c10::DeviceType device, const std::string& call);

  /// What went wrong with the call when several threads ran its package at once; empty if nothing did.
  /// Throws as package_of() does.
  std::string at_once(c10::DeviceType device, const std::string& call);

  /// The digest of the call's outputs when Python ran the package; none if Python has no outputs.
  std::optional<std::string> python_digest(c10::DeviceType device, const std::string& call);

  /// The reason why no package of the call was attempted, so that its cases are owed; none if one was.
  std::optional<std::string> not_tried(c10::DeviceType device, const std::string& call);

 private:
  struct Slot {
    std::filesystem::path file;
    std::string sha1;
    std::string error;
    std::unique_ptr<Package> package = nullptr;
    // The result of run_at_once(), set at the first request.
    std::optional<std::map<std::string, std::string>> at_once = std::nullopt;
  };
  struct Device {
    std::string error;
    std::vector<Slot> slots;
    std::map<std::string, size_t> slot_of_call;
    std::map<std::string, std::string> left_out;
    std::map<std::string, std::string> not_tried;
    std::map<std::string, std::string> python_digests;
  };
  Device& device(c10::DeviceType type);
  Slot& slot_of(c10::DeviceType device, const std::string& call);
  void read(Device& device, const std::string& name);

  std::filesystem::path folder_;
  std::map<c10::DeviceType, Device> devices_;
};

}  // namespace opgate
