#include "runtime/code/device_code.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "runtime/code/elf_file.h"
#include "runtime/code/fat_binary.h"

namespace opgate::simulator {
namespace device_code {

// nvcc registers a fat binary by the address of this.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const unsigned char* data;

  static constexpr std::uint32_t kMagic = 0x466243B1;
};

constexpr std::uint32_t kElfMagic = 0x464C457F;

template <class Value>
Value read(const unsigned char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

DeviceCode of_fat_binary(const unsigned char* image, unsigned architecture, bool is_module) {
  const FatBinary binary(image);
  return {binary.ptx_for(architecture), binary.contents(),
          is_module && binary.keeps_ptx_beside_machine_code()};
}

}  // namespace device_code

std::optional<std::string> kept_ptx(const unsigned char* elf, std::size_t most_bytes) {
  if (most_bytes < sizeof(std::uint32_t) || device_code::read<std::uint32_t>(elf) != device_code::kElfMagic)
    return std::nullopt;
  try {
    const ElfFile file(elf, most_bytes);
    for (unsigned index = 1; index < file.sections(); ++index) {
      const Elf64_Shdr section = file.section(index);
      if (file.name_of(section) == kSectionOfPtx) return file.text_at(section.sh_offset);
    }
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

DeviceCode read_device_code(const unsigned char* image, unsigned architecture, bool is_module) {
  switch (device_code::read<std::uint32_t>(image)) {
    case device_code::Wrapper::kMagic:
      return device_code::of_fat_binary(device_code::read<device_code::Wrapper>(image).data, architecture,
                                        is_module);
    case FatHeader::kMagic:
      return device_code::of_fat_binary(image, architecture, is_module);
    case device_code::kElfMagic:
      // A module in memory has no size of its own.
      return {kept_ptx(image, std::numeric_limits<std::uint32_t>::max()).value_or(""), "machine code", true};
    default:
      break;
  }
  std::string text(reinterpret_cast<const char*>(image));
  if (text.find(".version") == std::string::npos)
    throw std::runtime_error("neither PTX, nor a fat binary, nor machine code");
  return {std::move(text), "PTX", false};
}

}  // namespace opgate::simulator
