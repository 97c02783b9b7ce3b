// Small pieces of text that several files write.
#pragma once

#include <string>
#include <string_view>

namespace opgate {

/// The first line of an error message. The lines after it are places in torch's sources and a backtrace.
inline std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

/// Whether `text` contains `part`, where the case of letters does not count. Every text contains an empty part.
bool contains_ignoring_case(std::string_view text, std::string_view part);

/// The time now: UTC, ISO 8601 to the second.
std::string timestamp();

}  // namespace opgate
