// Reads machine code of a GPU as a file (ELF of 64 bits).
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace opgate::simulator {

/// Reads parts of a file in memory, which must outlive this object. Throws std::runtime_error for a part that
/// would lie past the end of the file.
class ElfFile {
 public:
  ElfFile(const void* data, std::size_t bytes) : data_(static_cast<const char*>(data)), bytes_(bytes) {
    header_ = part<Elf64_Ehdr>(0);
  }

  const Elf64_Ehdr& header() const { return header_; }
  unsigned sections() const { return header_.e_shnum; }
  Elf64_Shdr section(unsigned index) const {
    return part<Elf64_Shdr>(header_.e_shoff + std::uint64_t{index} * header_.e_shentsize);
  }
  std::string text_at(std::uint64_t offset) const {
    demand(offset, 1);
    return std::string(data_ + offset, strnlen(data_ + offset, bytes_ - offset));
  }
  std::string name_of(const Elf64_Shdr& one) const {
    return text_at(section(header_.e_shstrndx).sh_offset + one.sh_name);
  }
  std::string contents_of(const Elf64_Shdr& one) const {
    demand(one.sh_offset, one.sh_size);
    return std::string(data_ + one.sh_offset, one.sh_size);
  }

 private:
  void demand(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > bytes_ || bytes_ - offset < bytes) throw std::runtime_error("machine code that is cut");
  }

  template <class Part>
  Part part(std::uint64_t offset) const {
    demand(offset, sizeof(Part));
    Part read;
    std::memcpy(&read, data_ + offset, sizeof read);
    return read;
  }

  const char* data_;
  std::size_t bytes_;
  Elf64_Ehdr header_;
};

}  // namespace opgate::simulator
