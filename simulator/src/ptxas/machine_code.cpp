#include "ptxas/machine_code.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "runtime/code/device_code.h"
#include "runtime/code/elf_file.h"

namespace opgate::simulator {
namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::uint16_t kCuda = 190;  // EM_CUDA

std::string_view bytes_of(const auto& part) { return {reinterpret_cast<const char*>(&part), sizeof part}; }

// Appends the data, and returns where it begins.
std::uint64_t append(std::string& elf, std::string_view data) {
  elf.resize((elf.size() + kAlignment - 1) / kAlignment * kAlignment);
  const std::uint64_t begin = elf.size();
  elf += data;
  return begin;
}

}  // namespace

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error(file.string() + ": " + std::strerror(errno));
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const std::filesystem::path& file, const std::string& contents) {
  std::ofstream stream(file, std::ios::binary);
  stream << contents << std::flush;
  if (!stream) throw std::runtime_error(file.string() + ": " + std::strerror(errno));
}

std::string empty_machine_code() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = kCuda;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shstrndx = 1;
  std::string elf(bytes_of(header));
  const std::string names("\0.shstrtab\0", 11);
  Elf64_Shdr first{}, section{};
  section.sh_name = 1;
  section.sh_type = SHT_STRTAB;
  section.sh_offset = append(elf, names);
  section.sh_size = names.size();
  header.e_shoff = append(elf, std::string(bytes_of(first)) + std::string(bytes_of(section)));
  std::memcpy(elf.data(), &header, sizeof header);
  return elf;
}

std::string with_ptx(const std::string& elf, const std::string& ptx) {
  const ElfFile file(elf.data(), elf.size());
  Elf64_Ehdr header = file.header();
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
    throw std::runtime_error("not an ELF file of 64 bits");
  std::vector<Elf64_Shdr> sections;
  for (unsigned index = 0; index < file.sections(); ++index) sections.push_back(file.section(index));

  // The names, the PTX and the table of sections are written anew after all else; what was there stays where
  // it is.
  std::string changed = elf;
  Elf64_Shdr& names = sections[header.e_shstrndx];
  std::string all_names = file.contents_of(names);
  Elf64_Shdr section{};
  section.sh_name = static_cast<std::uint32_t>(all_names.size());
  section.sh_type = SHT_PROGBITS;
  section.sh_addralign = 1;
  section.sh_size = ptx.size() + 1;
  section.sh_offset = append(changed, ptx + '\0');
  all_names += std::string(kSectionOfPtx) + '\0';
  names.sh_size = all_names.size();
  names.sh_offset = append(changed, all_names);
  sections.push_back(section);
  std::string table;
  for (const Elf64_Shdr& each : sections) table += bytes_of(each);
  header.e_shoff = append(changed, table);
  header.e_shnum = static_cast<std::uint16_t>(sections.size());
  std::memcpy(changed.data(), &header, sizeof header);
  return changed;
}

}  // namespace opgate::simulator
