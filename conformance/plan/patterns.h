// Shell patterns (*, ?, [...]) by which a command line chooses from what there is.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opgate {

bool matches(const std::string& pattern, const std::string& text);

/// True where one of them matches, or where there is none.
bool selects(const std::vector<std::string>& patterns, const std::string& text);

/// A part as it is listed, and another name by which it may be asked for.
using Names = std::map<std::string, std::string>;

/// Throws SetupError that lists what there is, where a pattern matches nothing: `what` is "op", "device".
void demand_matches(std::string_view what, const std::vector<std::string>& patterns, const Names& names);

}  // namespace opgate
