// Text that others wrote, made fit for a line of ours.
#pragma once

#include <string>
#include <string_view>

namespace opgate {

/// Of an error: what follows are places in torch's sources and a backtrace.
inline std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace opgate
