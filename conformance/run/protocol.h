// What supervisor and workers say to each other, one JSON object a line.
//
//   supervisor -> worker                                      worker -> supervisor
//   {"setup": {libraries, specs, modules, packages, models}}  {"ready": {...}} or {"broken": "why"}
//   {"run": CALL, "checks": [ID, ...]}                        {"ran": CALL, "judgements": {ID: {...}, ...}}
//   {"package": {"device": "cpu", "calls": [CALL, ...]}}      {"packaged": "cpu"}
//
// A worker answers in the order of its commands, each answer before it begins the next: the first command
// without an answer is the one that a worker died of.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "plan/config.h"

namespace opgate {

/// What a worker needs to know before its first case.
struct Setup {
  std::vector<std::string> libraries;  ///< resolved files
  std::vector<std::string> specs;
  std::vector<std::string> modules;
  std::string packages;                             ///< folder of AOTInductor packages
  nlohmann::json models = nlohmann::json::array();  ///< as the Python half described them
};

void to_json(nlohmann::json& json, const Setup& setup);
void from_json(const nlohmann::json& json, Setup& setup);

/// SHA-1 over the bytes of the operator and spec libraries: what a verdict was given for.
std::string libraries_digest(const Setup& setup);

/// Finds the libraries that the configuration names. Throws SetupError.
Setup setup_from(const Config& config);

}  // namespace opgate
