// Small pieces of text that several files write.
#pragma once

#include <string>
#include <string_view>

namespace opgate {

/// The first line of an error message. The lines after it are places in torch's sources and a backtrace.
inline std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

/// The time now: UTC, ISO 8601 to the second.
std::string timestamp();

}  // namespace opgate
