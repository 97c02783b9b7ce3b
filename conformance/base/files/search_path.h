// Environment variables that hold folders or libraries, with colons between them.
#pragma once

#include <string>

namespace opgate {

/// `first`, and after it what the variable of this process holds, if it is set and not empty.
std::string before_present(const std::string& first, const char* variable);

}  // namespace opgate
