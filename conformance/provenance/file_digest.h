// SHA-1 of libraries, which may be large and seldom change.
#pragma once

#include <filesystem>
#include <string>

namespace opgate {

/// SHA-1 of the file's bytes. That of a large file is kept in the user's cache folder, and holds until the
/// file's inode, size or times change.
std::string digest_of_file(const std::filesystem::path& file);

}  // namespace opgate
