#include "simulator/runtime/device_code.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <stdexcept>

#include "simulator/runtime/fat_binary.h"

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

class Cut : public std::exception {};

// Reads parts of a file. Throws Cut for one that would lie behind its end.
class Elf {
 public:
  Elf(const unsigned char* data, std::size_t bytes) : data_(data), bytes_(bytes) {
    header_ = part<Elf64_Ehdr>(0);
  }

  unsigned sections() const { return header_.e_shnum; }
  Elf64_Shdr section(unsigned index) const {
    return part<Elf64_Shdr>(header_.e_shoff + std::uint64_t{index} * header_.e_shentsize);
  }
  std::string text_at(std::uint64_t offset) const {
    if (offset >= bytes_) throw Cut();
    const auto* const text = reinterpret_cast<const char*>(data_ + offset);
    return std::string(text, strnlen(text, bytes_ - offset));
  }
  std::string name_of(const Elf64_Shdr& section_header) const {
    return text_at(section(header_.e_shstrndx).sh_offset + section_header.sh_name);
  }

 private:
  template <class Part>
  Part part(std::uint64_t offset) const {
    if (offset > bytes_ || bytes_ - offset < sizeof(Part)) throw Cut();
    return read<Part>(data_ + offset);
  }

  const unsigned char* data_;
  std::size_t bytes_;
  Elf64_Ehdr header_;
};

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
    const device_code::Elf file(elf, most_bytes);
    for (unsigned index = 1; index < file.sections(); ++index) {
      const Elf64_Shdr section = file.section(index);
      if (file.name_of(section) == kSectionOfPtx) return file.text_at(section.sh_offset);
    }
  } catch (const device_code::Cut&) {
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
