// Samples of a call's subject, also new ones that are not in its spec.
#include <pybind11/stl.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "call/observation.h"
#include "device/device.h"
#include "inputs/larger_samples.h"
#include "inputs/variant.h"
#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/scope.h"
#include "plan/calls.h"
#include "python/binding/judgement_json.h"
#include "python/binding/loaded.h"
#include "python/binding/parts.h"
#include "spec/json/sample_json.h"
#include "spec/specs.h"

namespace opgate {
namespace {

namespace py = pybind11;
using nlohmann::json;

// The samples of the call's subject, as JSON.
std::string samples(const std::string& id) {
  json all = json::array();
  for (const Sample& sample : loaded_call(id).spec->samples) all.push_back(to_json(sample));
  return all.dump();
}

// Whether each of these samples takes any size.
std::vector<bool> samples_of_any_size(const std::string& id) {
  const CallKey key = loaded_call(id);
  std::vector<bool> any_size;
  for (const Sample& sample : key.spec->samples) any_size.push_back(takes_any_size(*key.spec, sample));
  return any_size;
}

std::vector<std::string> dtypes(const std::string& id) {
  const CallKey key = loaded_call(id);
  std::vector<std::string> names;
  for (const c10::ScalarType dtype : key.spec->dtypes.at(key.device)) names.emplace_back(dtype_name(dtype));
  return names;
}

// A new sample of the call's subject, which is not in its spec.
Sample new_sample(const CallKey& key, const std::string& described) {
  Sample sample = sample_from_json(json::parse(described));
  fit_sample(sample, key.spec->op->schema());
  return sample;
}

std::vector<std::string> sample_variants(const std::string& id, const std::string& described) {
  const CallKey key = loaded_call(id);
  std::vector<std::string> texts;
  for (const Variant& variant : variants(*key.spec, new_sample(key, described))) {
    const bool same_values =
        variant.kind == Variant::Kind::contiguous || variant.kind == Variant::Kind::rearranged;
    if (same_values && variant.accepts_dtype == nullptr) texts.push_back(variant.text);
  }
  return texts;
}

// Whether the operator raises. Where the simulated device fails, or lacks what the call needs, the checks
// tell of it.
bool is_refused(const CallKey& key, ValueCache& values) {
  try {
    return !observe(key, values).outcome.ok();
  } catch (const DeviceFailed&) {
    return false;
  } catch (const NotSimulated&) {
    return false;
  }
}

// Runs those of the named checks that apply to this call.
std::string judge_sample(const std::string& id, const std::string& described, const std::string& dtype,
                         const std::string& variant, const std::vector<std::string>& check_ids) {
  CallKey key = loaded_call(id);
  const Sample sample = new_sample(key, described);
  key.sample = &sample;
  key.dtype = known_dtype(dtype);
  key.variant = variant;
  const std::vector<Variant> offered = variants(*key.spec, sample);
  const auto chosen = std::ranges::find(offered, variant, &Variant::text);
  if (chosen == offered.end()) throw SpecError("the sample has no variant '" + variant + "'");
  CheckList checks;
  for (const std::string& check_id : check_ids) {
    const Check& check = find_check(loaded().checks, check_id);
    if (in_scope(check.scope, key, *chosen)) checks.push_back(&check);
  }
  enable_device(key.device, DeviceAllocator::plain);
  WorkerCache cache;  // not the process's cache, which knows samples by their address: this one is local
  // The reference need not handle samples that the operator refuses, so these are not judged.
  CallKey plain = key;
  plain.variant = kContiguous;
  if (is_refused(plain, cache.values)) return "null";
  return text_of(judge_call(key, checks, cache));
}

}  // namespace

void define_samples(py::module_& module) {
  module.def("samples", &samples, "The samples of the call's subject (JSON).", py::arg("call_id"));
  module.def("samples_of_any_size", &samples_of_any_size,
             "For each sample of the call's subject, whether no value of its tensors depends on their sizes.",
             py::arg("call_id"));
  module.def("dtypes", &dtypes, "The dtypes that the subject declares on the call's device.",
             py::arg("call_id"));
  module.def("variants", &sample_variants, "The ways to lay out a sample (JSON) of the call's subject.",
             py::arg("call_id"), py::arg("sample"));
  module.def("judge_sample", &judge_sample,
             "Runs native checks on another sample (JSON) of the call's subject. Returns JSON: judgements by "
             "check, or null if the operator refuses the sample.",
             py::arg("call_id"), py::arg("sample"), py::arg("dtype"), py::arg("variant"), py::arg("checks"),
             py::call_guard<py::gil_scoped_release>());
}

}  // namespace opgate
