#include "runtime/launches/launch_arguments.h"

#include <cstring>

namespace opgate::simulator {

LaunchArguments::LaunchArguments(const Signature& signature, const std::vector<unsigned char>& parameters,
                                 const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    const std::string argument =
        std::to_string(i + 1) + (i < names.size() ? " (`" + names[i] + "`)" : std::string());
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= parameter.bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t address = 0;
      std::memcpy(&address, parameters.data() + parameter.offset + at, sizeof address);
      pointers_.push_back({address, argument});
    }
  }
}

// Several arguments may point into an allocation: views, and results in place. The nearest one before the
// address is meant, as a rule.
std::string LaunchArguments::place_of(std::uint64_t address, const Allocation& allocation) const {
  const Pointer* nearest = nullptr;
  for (const Pointer& pointer : pointers_) {
    if (pointer.address < allocation.begin || pointer.address >= allocation.end()) continue;
    const bool is_nearer = nearest == nullptr || (nearest->address > address && pointer.address <= address) ||
                           (pointer.address <= address && pointer.address > nearest->address);
    if (is_nearer) nearest = &pointer;
  }
  if (nearest == nullptr) return "";
  const auto byte = static_cast<std::int64_t>(address - nearest->address);
  return "byte " + std::to_string(byte) + " of argument " + nearest->argument +
         " of the launch, which points to " + std::to_string(allocation.end() - nearest->address) + " bytes";
}

}  // namespace opgate::simulator
