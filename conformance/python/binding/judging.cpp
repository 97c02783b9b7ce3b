// The engine's checks in a Python process, and what the checks that are written in Python share with them.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "device/device.h"
#include "device/simulator.h"
#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/comparison/output_judgement.h"
#include "judging/obstacle.h"
#include "plan/calls.h"
#include "python/binding/judgement_json.h"
#include "python/binding/loaded.h"
#include "python/binding/parts.h"
#include "results/finding_text.h"

namespace opgate {
namespace {

namespace py = pybind11;
using nlohmann::json;

// Runs native checks on one call in this process. The GIL is released; kernels written in Python take it
// themselves.
std::string judge(const std::string& id, const std::vector<std::string>& check_ids) {
  const CallKey key = loaded_call(id);
  CheckList checks;
  for (const std::string& check : check_ids) checks.push_back(&find_check(loaded().checks, check));
  if (key.device != c10::kCPU && std::ranges::any_of(checks, &Check::needs_device))
    enable_device(key.device, DeviceAllocator::plain);
  std::optional<CallFacts> facts;
  json said{{"judgements", judge_call(key, checks, loaded().cache, &facts)}};
  if (facts) said["facts"] = *facts;
  return text_of(said);
}

// Why a check of the Python half, of which this is known, cannot judge the call; none if it can.
std::optional<std::string> obstacle(const std::string& id, const std::string& missing, bool needs_fake,
                                    const std::optional<std::string>& no_package) {
  const CallKey key = loaded_call(id);
  Check check;
  check.missing = missing;
  check.needs_fake = needs_fake;
  const auto found = obstacle_to(*key.spec, check, {.no_package = no_package, .in_worker = &key});
  return found ? std::optional(found->reason) : std::nullopt;
}

// Compares the results of a call that was made elsewhere with the reference.
std::string judge_results(const std::string& id, const std::vector<at::Tensor>& results) {
  CallUnderTest under_test(loaded_call(id), loaded().cache);
  Outcome outcome;
  for (const at::Tensor& result : results) outcome.results.emplace_back(result);
  return text_of(judge_near_reference(under_test, outcome, "the values of the reference"));
}

// What is known of a call on the simulated device instead of the judgement of a check in Python, which said
// this; none if the judgement stands. The device's own limits say nothing about the operator.
std::optional<std::string> verdict_of_simulator(bool passed, const std::string& said) {
  const std::optional<SimulatedFailure> failure = take_simulated_failure();
  const bool failed = failure && failure->device_failed;
  if (passed && !failed) return std::nullopt;
  if (const auto needed = unsimulated_library(said))
    return text_of(Judgement::owed(fmt::format("it needs {}, which is not simulated", *needed)));
  if (failure && failure->unsupported) return text_of(Judgement::owed(failure->what));
  return failed ? std::optional(text_of(crash_of(DeviceFailed(*failure)))) : std::nullopt;
}

std::string text_of_finding(const std::string& case_id, const std::string& judgement) {
  std::string text = finding_text(case_id, json::parse(judgement).get<Judgement>(), /*options=*/std::nullopt);
  text.pop_back();  // the end of the last line
  return text;
}

// The explanations of native checks, by id, as JSON.
std::string explanations() {
  json all;
  for (const Check& check : native_checks()) {
    const Explanation& told = check.explanation;
    all[check.name] = {{"promise", told.promise},
                       {"why", told.why},
                       {"fix", told.fix},
                       {"example", told.example},
                       {"wrong", told.wrong},
                       {"right", told.right},
                       {"does_not_find", told.does_not_find}};
  }
  return all.dump();
}

}  // namespace

void define_judging(py::module_& module) {
  module.def("judge", &judge,
             "Runs native checks on a call. Returns JSON: \"judgements\" by check, and \"facts\" of the call "
             "if a check made it. Raises RuntimeError for an unknown call or check.",
             py::arg("call_id"), py::arg("checks"), py::call_guard<py::gil_scoped_release>());
  module.def("obstacle", &obstacle,
             "Why the case of a check of the Python half is owed before the call is made, or None. Raises "
             "RuntimeError for an unknown call.",
             py::arg("call_id"), py::arg("missing"), py::arg("needs_fake"), py::arg("no_package"));
  module.def("judge_results", &judge_results,
             "Compares the results of a call that was made elsewhere with the reference, within the spec's "
             "accuracy. Returns a judgement as JSON.",
             py::arg("call_id"), py::arg("results"), py::call_guard<py::gil_scoped_release>());
  module.def("verdict_of_simulator", &verdict_of_simulator,
             "The judgement, as JSON, that the simulated device gives instead of that of a check in Python, "
             "which passed or not and said this; None if the check's stands. Repairs the device.",
             py::arg("passed"), py::arg("said"));
  module.def("finding_text", &text_of_finding,
             "The text of the finding of one case, whose judgement is JSON, as the program prints it.",
             py::arg("case_id"), py::arg("judgement"));
  module.def(
      "explanations", &explanations,
      "The explanation of each of the engine's own checks, as JSON by id: promise, why, fix, example, wrong "
      "and right.");
  module.def(
      "native_checks", [] { return ids_of(loaded().checks); }, "The ids of the engine's own checks.");
  module.def(
      "exploring_checks", [] { return ids_of(loaded().checks, &Check::explores); },
      "The ids of those of them that are asked about samples that are drawn.");
}

}  // namespace opgate
