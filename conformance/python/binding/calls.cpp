// The calls of a plan: what their ids mean, and their arguments.
#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "call/observation.h"
#include "device/device.h"
#include "device/simulator.h"
#include "inputs/arguments.h"
#include "inputs/tensor_slots.h"
#include "judging/all_checks.h"
#include "judging/calls/step_count.h"
#include "judging/comparison/memory_judgement.h"
#include "plan/plan.h"
#include "python/binding/loaded.h"
#include "python/binding/parts.h"
#include "spec/json/sample_json.h"
#include "spec/json/spec_json.h"
#include "spec/recordings.h"

namespace opgate {
namespace {

namespace py = pybind11;
using nlohmann::json;

py::object to_python(const json& value) { return py::module_::import("json").attr("loads")(value.dump()); }

py::object describe(const std::string& id) {
  const CallKey key = loaded_call(id);
  json tensors = json::array();
  for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
    tensors.push_back({slot.position, slot.element ? json(*slot.element) : json(nullptr)});
  }
  json promises = json::array();
  for (const Promise promise : key.spec->promises) promises.push_back(to_string(promise));
  return to_python({{"subject", key.spec->name},
                    {"kind", key.spec->kind == Spec::Kind::op ? "op" : "model"},
                    {"dtype", dtype_name(key.dtype)},
                    {"variant", key.variant},
                    {"device", device_name(key.device)},
                    {"draft", key.spec->draft},
                    {"trusted", !key.spec->trusted.empty()},
                    {"lacks_fake", key.spec->lacks_fake},
                    {"other_values", has_other_values_than_recorded(*key.spec, *key.sample)},
                    {"promises", promises},
                    {"accuracy", to_json(key.spec->accuracy)},
                    {"tensors", tensors}});
}

py::object sample(const std::string& id) { return to_python(to_json(*loaded_call(id).sample)); }

py::list arguments(const std::string& id, uint64_t value_seed, bool without_device) {
  const CallKey key = without_device ? on_cpu(loaded_call(id)) : loaded_call(id);
  py::list list;
  for (const c10::IValue& value : materialize(key, loaded().cache.values, {.value_seed = value_seed}).stack)
    list.append(torch::jit::toPyObject(value));
  // The caller is about to make a call.
  const BlockOrders orders(block_orders_of(key));
  if (key.device == kSimulatedType) restart_block_orders();
  return list;
}

bool leaves_results_untouched(const std::string& id) {
  const CallKey key = loaded_call(id);
  enable_device(key.device, DeviceAllocator::plain);
  const Outcome outcome = observe(key, loaded().cache.values, {.take_snapshots = false}).outcome;
  return std::ranges::any_of(outcome.values(), [](const at::Tensor& tensor) { return is_untouched(tensor); });
}

// The planned calls of the subject `name`, each with the ids of its checks. They are made in this process,
// where nothing can end a call that counts to a huge integer.
std::vector<std::pair<std::string, std::vector<std::string>>> plan(const std::string& described_checks,
                                                                   const std::vector<std::string>& patterns,
                                                                   const std::string& name) {
  const std::vector<Check> checks = all_checks(json::parse(described_checks));
  Filter filter;
  filter.checks = patterns;
  std::vector<std::pair<std::string, std::vector<std::string>>> calls;
  std::vector<Spec> subjects;
  std::ranges::copy_if(loaded().subjects, std::back_inserter(subjects),
                       [&](const Spec& spec) { return spec.name == name; });
  for (const PlannedCall& call : make_plan(subjects, checks, filter).calls) {
    if (has_huge_integer(call.key)) continue;
    auto& [id, names] = calls.emplace_back(call.id, std::vector<std::string>());
    for (const Check* check : call.checks) names.push_back(check->name);
  }
  return calls;
}

}  // namespace

void define_calls(py::module_& module) {
  module.def("describe", &describe, "What a call id means, as a dict.", py::arg("call_id"));
  module.def(
      "sample", &sample,
      "The sample of a call, as a dict, with all numbers that the spec writes down: a million for a large "
      "tensor.",
      py::arg("call_id"));
  module.def("arguments", &arguments,
             "The arguments of a call in schema order, freshly laid out. With a "
             "`value_seed`, the tensors have other values of the same domains; `without_device`, they are on "
             "the CPU.",
             py::arg("call_id"), py::arg("value_seed") = 0, py::arg("without_device") = false);
  module.def(
      "leaves_results_untouched", &leaves_results_untouched,
      "Whether the call returns a tensor that it allocated and wrote nothing to, as at::empty_like does.",
      py::arg("call_id"));
  module.def(
      "plan", &plan,
      "The planned calls of the loaded operator `name` (ns::op.overload): pairs of a call id and the ids of "
      "the checks that match a pattern in `checks`. `described_checks` (JSON) are the checks of the Python "
      "half. Calls with an integer of 2^62 are left out, because nobody could end one that counts so far. "
      "Raises RuntimeError for a pattern that matches no check.",
      py::arg("described_checks"), py::arg("checks"), py::arg("name"));
}

}  // namespace opgate
