// Device code in the forms in which programs have it.
#pragma once

#include <optional>
#include <string>

namespace opgate::simulator {

struct DeviceCode {
  std::string ptx;       ///< empty if there is none that the architecture can run
  std::string contents;  ///< "PTX 80, machine code 90", for messages
  /// Whether Triton's compiler has made it, which calls the stand-in for ptxas; nvcc calls its own.
  bool is_of_triton = false;
};

/// Reads a fat binary, what nvcc wraps one into, PTX as text that ends with a 0, or machine code (an ELF
/// file). Machine code has PTX if OpGate's stand-in for ptxas has kept it there. In the fat binary of a
/// module, which is small, all machine code is looked through for it, and in that of a library only if there
/// is no other PTX. Throws std::runtime_error for anything else.
DeviceCode read_device_code(const unsigned char* image, unsigned architecture, bool is_module);

/// The section of an ELF file in which the stand-in for ptxas keeps the PTX; it ends with a 0.
inline constexpr const char* kSectionOfPtx = ".opgate.ptx";

/// That PTX; none if this is no ELF file, is cut, or has no such section.
std::optional<std::string> kept_ptx(const unsigned char* elf, std::size_t most_bytes);

}  // namespace opgate::simulator
