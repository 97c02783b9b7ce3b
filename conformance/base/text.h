// Small pieces of text that several files write.
#pragma once

#include <string>
#include <string_view>

namespace opgate {

/// The first line of an error message. The lines after it are places in torch's sources and a backtrace.
inline std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

/// "1 defect", "2 defects": a number, and a noun whose plural ends in s.
std::string counted(size_t number, std::string_view noun);

/// Whether `text` contains `part`, where the case of letters does not count. Every text contains an empty
/// part.
bool contains_ignoring_case(std::string_view text, std::string_view part);

/// `text` with its decimal fractions of 16 digits and more as short as they read back the same: "1e-06"
/// instead of "9.9999999999999995e-07". Samples had the longer names once, and files and commands may hold
/// them.
std::string shortest_numbers(std::string_view text);

/// The time now: UTC, ISO 8601 to the second.
std::string timestamp();

}  // namespace opgate
