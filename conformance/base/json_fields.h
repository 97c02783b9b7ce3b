// JSON of structs whose members have the names that their values have there.
#pragma once

#include <nlohmann/json.hpp>

/// Defines to_json() and from_json() of a type by a list of its members. All must be there when it is read.
/// It stands in a source file, unlike the library's own macro: the header declares both functions.
#define OPGATE_JSON_FIELDS(Type, ...)                                            \
  void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t) {   \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))     \
  }                                                                              \
  void from_json(const nlohmann::json& nlohmann_json_j, Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, __VA_ARGS__))   \
  }
