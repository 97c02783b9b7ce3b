// What supervisor and workers say to each other, one JSON object a line.
//
//   supervisor -> worker                                      worker -> supervisor
//   {"setup": {libraries, specs, modules, packages, models,   {"ready": {...}} or {"broken": "why"}
//              memory, worker, checks, filter, plan}}
//
// Native and aoti workers make the same plan as the supervisor from the same set-up, refuse to begin where
// its digest is another, and are fed with positions in it, many a line:
//   {"run": [5, 6, 9]}                                        {"ran": 5} a call: all its checks pass
//   {"run": [5], "checks": [ID, ...]}                         {"ran": 5, "ulps": {ID: 0.5}, "facts": {...},
//                                                              "judgements": {ID: {...}}}
// Without "checks" every check of that kind of worker is meant that the plan has for the call. "ulps" has the
// worst error of checks that pass, where there is any; "facts" what the call returned, in few words;
// "judgements" what does not pass, in full.
//
// The Python worker keeps no plan and is asked by call ids; each of its judgements is told in full:
//   {"run": CALL, "checks": [ID, ...]}                        {"ran": CALL, "judgements": {ID: {...}, ...},
//                                                              "facts": {...}}
//   {"package": {"device": "cpu", "calls": [CALL, ...],       {"packaged": "cpu"}
//                "ended": {WHAT: "why"}, "seconds": 180}}      calls and files that ended a worker; "seconds"
//                for a call
//   {"run_package": {"device": "cpu"}}                        {"packaged": "cpu"}
//
// A worker answers in the order of its commands and their calls, each answer before it begins the next: the
// first call without an answer is the one that a worker died of.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "plan/config.h"
#include "plan/plan.h"

namespace opgate {

/// What a worker needs to know before its first case.
struct Setup {
  std::vector<std::string> libraries;  ///< resolved files
  std::vector<std::string> specs;
  std::vector<std::string> modules;
  std::string packages;                             ///< folder of AOTInductor packages
  nlohmann::json models = nlohmann::json::array();  ///< as the Python half described them
  std::string regressions;                          ///< folder of samples in JSON; may be empty
  std::string recorded;                             ///< folder of recorded calls; may be empty
  std::string sources;                              ///< digest of the Python half's files

  uint64_t memory = 0;  ///< bytes of its own that the worker may hold

  // For the workers that make the plan themselves:
  Worker worker = Worker::native;
  nlohmann::json checks = nlohmann::json::array();  ///< of the Python half, as it described them
  Filter filter;
  std::string plan;  ///< digest of the supervisor's
};

void to_json(nlohmann::json& json, const Setup& setup);
void from_json(const nlohmann::json& json, Setup& setup);

/// Every check there is: the engine's and those described, sorted by id.
std::vector<Check> all_checks(const nlohmann::json& described);

/// SHA-1 over the bytes of the operator and spec libraries and `sources`: what a verdict was given for.

std::string libraries_digest(const Setup& setup);

/// SHA-1 over the bytes of this engine: what gave it.
std::string engine_digest();

/// Finds the libraries that the configuration names. Throws SetupError.
Setup setup_from(const Config& config);

}  // namespace opgate
