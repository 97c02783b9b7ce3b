// All checks that exist, and how to find one by its id.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "judging/check.h"

namespace opgate {

/// Every check of the engine, sorted by id.
std::vector<Check> native_checks();

/// The checks of the engine and those of the Python half, which are `described` as JSON, sorted by id.
/// Throws nlohmann::json::exception if a description is malformed.
std::vector<Check> all_checks(const nlohmann::json& described);

/// The ids of these checks, or of those of them that have the flag.
std::vector<std::string> ids_of(const std::vector<Check>& checks, bool Check::*flag = nullptr);

/// The check with this id. Throws SetupError that lists the ids there are.
const Check& find_check(const std::vector<Check>& checks, std::string_view id);

}  // namespace opgate
