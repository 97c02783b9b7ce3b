#include "device/accelerator.h"

#include <algorithm>
#include <map>

#include "base/errors.h"

namespace opgate {
namespace {

// Static objects of other files use these, so that they must exist from the first use on.
std::vector<Accelerator*>& registered() {
  static std::vector<Accelerator*> all;
  return all;
}

std::vector<c10::DeviceType>& known_types() {
  static std::vector<c10::DeviceType> all{c10::kCPU};
  return all;
}

std::map<c10::DeviceType, AcceleratorServices*>& services_by_type() {
  static std::map<c10::DeviceType, AcceleratorServices*> all;
  return all;
}

}  // namespace

bool register_accelerator(Accelerator& accelerator) {
  registered().push_back(&accelerator);
  std::ranges::sort(registered(), {}, &Accelerator::type);
  known_types().push_back(accelerator.type());
  std::ranges::sort(known_types());
  return true;
}

const std::vector<Accelerator*>& accelerators() { return registered(); }

const Accelerator* find_accelerator(const std::function<bool(const Accelerator&)>& is_it) {
  const auto found =
      std::ranges::find_if(registered(), [&](const Accelerator* each) { return is_it(*each); });
  return found == registered().end() ? nullptr : *found;
}

Accelerator& accelerator(c10::DeviceType type) {
  const auto found = std::ranges::find(registered(), type, &Accelerator::type);
  if (found == registered().end())
    throw setup_error("OpGate knows no accelerator of type {}", c10::DeviceTypeName(type, true));
  return **found;
}

const std::vector<c10::DeviceType>& device_types() { return known_types(); }

std::optional<c10::DeviceType> device_type_named(std::string_view name) {
  for (const c10::DeviceType type : device_types()) {
    if (name == c10::DeviceTypeName(type, /*lower_case=*/true)) return type;
  }
  return std::nullopt;
}

std::vector<std::string> device_type_names() {
  std::vector<std::string> names;
  for (const c10::DeviceType type : device_types())
    names.push_back(c10::DeviceTypeName(type, /*lower_case=*/true));
  return names;
}

void provide_services(c10::DeviceType type, AcceleratorServices& services) {
  services_by_type()[type] = &services;
}

AcceleratorServices* provided_services(c10::DeviceType type) {
  const auto found = services_by_type().find(type);
  return found == services_by_type().end() ? nullptr : found->second;
}

}  // namespace opgate
