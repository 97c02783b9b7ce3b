// The paths of this program and library, the content of a file, and the error for a file that cannot be
// written.
#pragma once

#include <opgate/error.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace opgate {

/// The program that this process runs. Throws std::filesystem::filesystem_error.
std::filesystem::path this_executable();

/// The engine's library, libopgate.so, wherever it was loaded from.
std::filesystem::path this_library();

/// The whole content of a file; an empty string if it cannot be read.
std::string content_of(const std::filesystem::path& file);

/// Whether the path `file` begins with the path `folder`.
bool is_inside(const std::filesystem::path& file, const std::filesystem::path& folder);

/// An error for a file that could not be written, with the reason from errno and what the user can do:
/// "cannot write F: No space left on device; name another file with --json".
SetupError cannot_write(const std::filesystem::path& file, std::string_view remedy);

}  // namespace opgate
