// The group of a check is the first part of its id.
#pragma once

#include <string_view>

namespace opgate {

/// "value" for "value.layout"; the id itself for a check without a group, such as "opcheck".
constexpr std::string_view group_of_check(std::string_view check) { return check.substr(0, check.find('.')); }

}  // namespace opgate
