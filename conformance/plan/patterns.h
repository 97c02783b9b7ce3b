// Shell patterns (*, ?, [...]) with which a command line selects operators, checks, devices and cases.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opgate {

bool matches(const std::string& pattern, const std::string& text);

/// True if one of the patterns matches, or where there are no patterns.
bool selects(const std::vector<std::string>& patterns, const std::string& text);

/// The same for the id of a check, which the name of its group selects as well: "value" stands for "value.*".
bool selects_check(const std::vector<std::string>& patterns, const std::string& check);

/// Each name as it is listed, with a second name that also selects it.
using Names = std::map<std::string, std::string>;

/// Throws SetupError that lists `names` where a pattern matches none of them. `what` is the kind of name,
/// for the message: "op", "device".
void demand_matches(std::string_view what, const std::vector<std::string>& patterns, const Names& names);

/// The same for names that belong to no group.
void demand_matches(std::string_view what, const std::vector<std::string>& patterns,
                    const std::vector<std::string>& names);

}  // namespace opgate
