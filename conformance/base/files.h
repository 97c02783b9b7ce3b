// Files as OpGate needs them: its own program, and the bytes of any.
#pragma once

#include <filesystem>
#include <string>

namespace opgate {

/// The program that this process runs. Throws std::filesystem::filesystem_error.
std::filesystem::path this_executable();

/// The whole content of a file; nothing of one that cannot be read.
std::string content_of(const std::filesystem::path& file);

}  // namespace opgate
