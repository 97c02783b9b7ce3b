// Machine code of a GPU as a file (ELF), as far as the stand-in for ptxas changes it.
#pragma once

#include <filesystem>
#include <string>

namespace opgate::simulator {

/// Throw std::runtime_error, with the file's name.
std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, const std::string& contents);

/// A file for a GPU without any section but the names of sections.
std::string empty_machine_code();

/// The same file with one section more, `kSectionOfPtx`, which holds the PTX and a 0. Throws
/// std::runtime_error if `elf` is no ELF file of 64 bits.
std::string with_ptx(const std::string& elf, const std::string& ptx);

}  // namespace opgate::simulator
