// The packages of one run: DEVICE.json names the package and the calls that could not be packaged,
// DEVICE.python.json holds the digests that Python got from running it.
#pragma once

#include <c10/core/DeviceType.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "paths/package.h"

namespace opgate {

class PackageFolder {
 public:
  explicit PackageFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The package for this device, loaded when first asked for. Throws SetupError, always with the same
  /// message, where none could be made or it cannot be loaded.
  Package& package(c10::DeviceType device);

  /// Why this call is not in the package, if so.
  std::optional<std::string> left_out(c10::DeviceType device, const std::string& call);

  /// The digest of the call's outputs when Python ran the package; none where it did not get that far.
  std::optional<std::string> python_digest(c10::DeviceType device, const std::string& call);

 private:
  struct Entry {
    std::string error;
    std::map<std::string, std::string> left_out;
    std::map<std::string, std::string> python_digests;
    std::unique_ptr<Package> package;
  };
  Entry& entry(c10::DeviceType device);

  std::filesystem::path folder_;
  std::map<c10::DeviceType, Entry> entries_;
};

}  // namespace opgate
