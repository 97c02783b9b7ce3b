// The messages between the supervisor and its workers: one JSON object per line.
//
//   supervisor -> worker                                      worker -> supervisor
//   {"setup": {libraries, specs, modules, namespaces,         {"ready": {...}} or {"broken": "why"}
//              packages, models, memory, worker, checks,
//              filter, plan}}
//
// Native and aoti workers make the same plan as the supervisor from the same set-up, and refuse to begin if
// its digest differs. The supervisor sends them positions in that plan, many in one line:
//   {"run": [5, 6, 9]}                                        {"ran": 5} a call: all its checks pass
//   {"run": [5], "checks": [ID, ...]}                         {"ran": 5, "ulps": {ID: 0.5}, "facts": {...},
//                                                              "judgements": {ID: {...}}}
// A command without "checks" runs every check that the plan has for the call and this kind of worker. "ulps"
// has the worst error of each check that passes with an error above 0; "facts" summarizes what the call
// returned; "judgements" has, in full, each check that does not pass. An answer has "printed" where the call
// has printed something: the place in the log after it. What a crash printed lies after the last such
// place.
//
// The Python worker keeps no plan. It receives call ids, and sends each of its judgements in full:
//   {"run": CALL, "checks": [ID, ...]}                        {"ran": CALL, "judgements": {ID: {...}, ...},
//                                                              "facts": {...}}
//   {"package": {"device": "cpu", "calls": [CALL, ...],       {"packaged": "cpu"}
//                "ended": {WHAT: "why"}, "seconds": 180}}      "ended": what has ended a worker before;
//                                                              "seconds": the limit for one call
//   {"run_package": {"device": "cpu"}}                        {"packaged": "cpu"}
// It says what it is at by {"doing": "compiling ..."}, which is no answer: a package, a check, a kernel that
// is compiled.
//
// A Python worker is forked from a process that has answered its set-up (run/worker/worker_template.h):
//   {"fork": {"commands": FILE, "answers": FILE,              {"forked": PID} or
//             "log": FILE, "checks": [ID, ...],               {"cannot_fork": "why"}
//             "mutant": 17}}
// "checks" are those whose Python packages a process in Python imports before. The worker needs no set-up.
//
// A worker answers in the order of its commands and their calls, and sends each answer before it begins the
// next call. So when a worker dies, the first call without an answer is the cause.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "judging/check.h"
#include "plan/filter.h"
#include "process/libraries/native_libraries.h"
#include "spec/registration.h"
#include "spec/schema/registered_name.h"

namespace opgate {

/// What a worker must know before its first case.
struct Setup {
  std::vector<std::string> libraries;  ///< resolved files
  NativeLibraries native;              ///< how processes without Python load them
  std::vector<std::string> specs;
  std::vector<std::string> modules;
  BuiltNamespaces namespaces;                       ///< of the kernels that kernel-builder has built
  std::string packages;                             ///< folder of AOTInductor packages
  nlohmann::json models = nlohmann::json::array();  ///< as the Python half described them
  PythonKernels python_kernels;                     ///< of all operators, as the Python half described them
  std::string regressions;                          ///< folder of samples in JSON; may be empty
  std::string recorded;                             ///< folder of recorded calls; may be empty
  std::string samples;                              ///< file of samples instead of the specs'; may be empty
  std::string outputs;                              ///< folder in which results are kept; may be empty

  int mutant = 0;          ///< see process/mutants.h
  bool simulated = false;  ///< the worker runs the calls on the simulated CUDA device, and none of the others
  /// The project's modules cannot be imported without a GPU: all Python workers have the simulated device.
  bool modules_need_device = false;
  uint64_t memory = 0;  ///< limit on the worker's own memory (RLIMIT_DATA), in bytes

  // Only the workers that make the plan themselves read these:
  Worker worker = Worker::native;
  nlohmann::json checks = nlohmann::json::array();  ///< the Python half's checks, as it described them
  Filter filter;
  std::string plan;  ///< digest of the supervisor's plan
};

/// Why a worker cannot work at all, if its message reports that.
std::optional<std::string> broken_setup(const nlohmann::json& message);

void to_json(nlohmann::json& json, const Setup& setup);
void from_json(const nlohmann::json& json, Setup& setup);

}  // namespace opgate
