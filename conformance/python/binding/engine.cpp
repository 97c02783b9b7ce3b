// The module opgate._engine: the engine inside a Python process, so that the C++ and the Python half use
// the same samples, layouts and comparison.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/pybind.h>

#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/dtypes.h"
#include "device/device.h"
#include "device/simulator.h"
#include "inputs/arguments.h"
#include "inputs/variant.h"
#include "judging/scope.h"

#include "compare/comparison.h"
#include "compare/kept_results.h"
#include "judging/memory_judgement.h"
#include "judging/output_judgement.h"
#include "memory/guard_pages.h"
#include "process/child_process.h"
#include "process/crash_handlers.h"
#include "process/library.h"
#include "process/process_state.h"
#include "python/binding/classes.h"
#include "python/binding/devices.h"
#include "python/binding/operators.h"
#include "python/binding/reference.h"
#include "results/finding_text.h"
#include "run/project_setup.h"
#include "run/worker.h"

#include "judging/all_checks.h"
#include "judging/compiled_agreement.h"
#include "judging/judge_call.h"
#include "judging/obstacle.h"
#include "judging/step_count.h"
#include "spec/recordings.h"
#include "spec/sample_json.h"
#include "spec/spec_json.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

namespace py = pybind11;
using nlohmann::json;

// The subjects and checks of this process. There is one State in a process, as there is one registry of
// torch.
struct State {
  std::vector<Spec> subjects;
  WorkerCache cache;
  std::vector<Check> checks = native_checks();
};

// Exceptions and frames of a kernel that is written in Python keep tensors alive until the next collection.
// The first call of an operator may import large parts of torch, whose objects a collection would look at
// each time.
void collect_garbage(bool keep_the_rest) {
  const py::gil_scoped_acquire locked;
  const py::module_ gc = py::module_::import("gc");
  gc.attr("collect")();
  if (keep_the_rest) gc.attr("freeze")();
}

void forget_exception() {
  const py::gil_scoped_acquire locked;
  PyErr_Clear();
}

State& state() {
  static State only;
  return only;
}

// As native workers load it. A library's initialisers may start threads of Python, so that the GIL is
// released.
std::string load_operators(const std::string& library) {
  const py::gil_scoped_release released;
  const auto failure = try_load(library);
  return failure ? explained(*failure, library) : "";
}

// load_operators() must have loaded the operator libraries before. `references` and `scales` hold the
// functions of specs that are written in Python, by operator name, `models` those of models, by class and
// method.
void load(const std::vector<std::string>& spec_libraries, const std::string& described,
          const std::map<std::string, py::object>& references,
          const std::map<std::string, py::object>& scales,
          const std::map<std::string, std::map<std::string, py::object>>& models,
          const std::string& regressions, const std::string& recorded, const std::string& samples,
          const std::string& outputs, const BuiltNamespaces& namespaces) {
  Setup setup;
  setup.namespaces = namespaces;
  setup.specs = spec_libraries;
  setup.regressions = regressions;
  setup.recorded = recorded;
  setup.samples = samples;
  setup.models = json::parse(described);
  State loaded{load_subjects(setup), {}};
  for (Spec& spec : loaded.subjects) {
    if (const auto found = references.find(spec.name); found != references.end())
      spec.reference = reference_from_python(found->second);
    if (const auto found = scales.find(spec.name); found != scales.end())
      spec.scale = reference_from_python(found->second);
    if (const auto found = models.find(spec.name); found != models.end() && spec.torch_class)
      set_model(spec, found->second);
  }
  loaded.cache.collect_garbage = collect_garbage;
  loaded.cache.outputs_folder = outputs;
  state() = std::move(loaded);
}

// The dispatcher of this process has kernels for Meta that only raise: those of a custom_op without
// register_fake.
void set_without_fake(const std::vector<std::string>& operators) {
  for (Spec& spec : state().subjects) {
    if (std::ranges::find(operators, spec.name) != operators.end()) spec.lacks_fake = true;
  }
}

// Invalid UTF-8 is replaced, because an operator's message may hold any bytes.
std::string text_of(const json& judged) {
  return judged.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Runs native checks on one call in this process. The GIL is released; kernels written in Python take it
// themselves.
std::string judge(const std::string& id, const std::vector<std::string>& check_ids) {
  const CallKey key = parse_call_id(state().subjects, id);
  CheckList checks;
  for (const std::string& check : check_ids) checks.push_back(&find_check(state().checks, check));
  if (key.device != c10::kCPU && std::ranges::any_of(checks, &Check::needs_device))
    enable_device(key.device, DeviceAllocator::plain);
  std::optional<CallFacts> facts;
  json said{{"judgements", judge_call(key, checks, state().cache, &facts)}};
  if (facts) said["facts"] = *facts;
  return text_of(said);
}

// Why a check of the Python half, of which this is known, cannot judge the call; none if it can.
std::optional<std::string> obstacle(const std::string& id, const std::string& missing, bool needs_fake,
                                    const std::optional<std::string>& no_package) {
  const CallKey key = parse_call_id(state().subjects, id);
  Check check;
  check.missing = missing;
  check.needs_fake = needs_fake;
  const auto found = obstacle_to(*key.spec, check, {.no_package = no_package, .in_worker = &key});
  return found ? std::optional(found->reason) : std::nullopt;
}

std::string text_of_finding(const std::string& case_id, const std::string& judgement) {
  std::string text = finding_text(case_id, json::parse(judgement).get<Judgement>(), /*options=*/std::nullopt);
  text.pop_back();  // the end of the last line
  return text;
}

py::object to_python(const json& value) { return py::module_::import("json").attr("loads")(value.dump()); }

py::object describe(const std::string& id) {
  const CallKey key = parse_call_id(state().subjects, id);
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
                    {"sample", to_json(*key.sample)},
                    {"trusted", !key.spec->trusted.empty()},
                    {"lacks_fake", key.spec->lacks_fake},
                    {"other_values", has_other_values_than_recorded(*key.spec, *key.sample)},
                    {"promises", promises},
                    {"accuracy", to_json(key.spec->accuracy)},
                    {"tensors", tensors}});
}

// The TorchBind classes by name, and whether each is meant for torch.export.
std::map<std::string, bool> classes() {
  std::map<std::string, bool> exported;
  for (const Spec& spec : state().subjects) {
    if (spec.torch_class) exported[spec.name] = is_exported(spec);
  }
  return exported;
}

py::list sequences(const std::string& id, size_t count) {
  return class_sequences(parse_call_id(state().subjects, id), count);
}

py::list arguments(const std::string& id) {
  const CallKey key = parse_call_id(state().subjects, id);
  py::list list;
  for (const c10::IValue& value : materialize(key, state().cache.values).stack)
    list.append(torch::jit::toPyObject(value));
  // The caller is about to make a call.
  const BlockOrders orders(block_orders_of(key));
  if (key.device == kSimulatedType) restart_block_orders();
  return list;
}

// The samples of the call's subject, as JSON.
std::string samples(const std::string& id) {
  json all = json::array();
  for (const Sample& sample : parse_call_id(state().subjects, id).spec->samples)
    all.push_back(to_json(sample));
  return all.dump();
}

std::vector<std::string> dtypes(const std::string& id) {
  const CallKey key = parse_call_id(state().subjects, id);
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
  const CallKey key = parse_call_id(state().subjects, id);
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
  CallKey key = parse_call_id(state().subjects, id);
  const Sample sample = new_sample(key, described);
  key.sample = &sample;
  key.dtype = known_dtype(dtype);
  key.variant = variant;
  const std::vector<Variant> offered = variants(*key.spec, sample);
  const auto chosen = std::ranges::find(offered, variant, &Variant::text);
  if (chosen == offered.end()) throw SpecError("the sample has no variant '" + variant + "'");
  CheckList checks;
  for (const std::string& check_id : check_ids) {
    const Check& check = find_check(state().checks, check_id);
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

// Compares the results of a call that was made elsewhere with the reference.
std::string judge_results(const std::string& id, const std::vector<at::Tensor>& results) {
  CallUnderTest under_test(parse_call_id(state().subjects, id), state().cache);
  Outcome outcome;
  for (const at::Tensor& result : results) outcome.results.emplace_back(result);
  return text_of(judge_near_reference(under_test, outcome, "the values of the reference"));
}

// The planned calls of the subject `name`, each with the ids of its checks. They are made in this process,
// where nobody can end a call that counts to a huge integer.
std::vector<std::pair<std::string, std::vector<std::string>>> plan(const std::string& described_checks,
                                                                   const std::vector<std::string>& patterns,
                                                                   const std::string& name) {
  const std::vector<Check> checks = all_checks(json::parse(described_checks));
  Filter filter;
  filter.checks = patterns;
  std::vector<std::pair<std::string, std::vector<std::string>>> calls;
  std::vector<Spec> subjects;
  std::ranges::copy_if(state().subjects, std::back_inserter(subjects),
                       [&](const Spec& spec) { return spec.name == name; });
  for (const PlannedCall& call : make_plan(subjects, checks, filter).calls) {
    if (has_huge_integer(call.key)) continue;
    auto& [id, names] = calls.emplace_back(call.id, std::vector<std::string>());
    for (const Check* check : call.checks) names.push_back(check->name);
  }
  return calls;
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

std::vector<std::string> native_check_ids() {
  std::vector<std::string> ids;
  for (const Check& check : state().checks) ids.push_back(check.name);
  return ids;
}

at::Tensor described_values(const std::string& described, const std::string& dtype,
                            const std::string& stream) {
  const Sample sample =
      sample_from_json({{"arguments", json::array({json::parse(described)})}, {"where", "Python"}});
  const TensorArgument& tensor = *sample.arguments.at(0).tensor();
  const c10::ScalarType swept = known_dtype(dtype);
  return make_values(tensor.domain, stream_key(stream), tensor.shape, tensor.dtype.value_or(swept));
}

std::optional<std::string> difference(const at::Tensor& got, const at::Tensor& want,
                                      std::optional<double> bound, const std::optional<at::Tensor>& scale) {
  Accuracy accuracy = bound ? ulps(*bound) : exact();
  if (scale) accuracy = accuracy.scaled_by_inputs();
  const Comparison comparison = compare(got, want, accuracy, scale.value_or(at::Tensor()));
  if (comparison.within()) return std::nullopt;
  return difference_text(comparison, got, want);
}

std::optional<std::string> difference_within_accuracy(const std::string& id, const at::Tensor& got,
                                                      const at::Tensor& want) {
  const CallKey key = parse_call_id(state().subjects, id);
  const Agreement near = agreement_of_compiled(key, {want});
  const Comparison comparison =
      compare(got, want, near.accuracy, near.scales.empty() ? at::Tensor() : near.scales.front());
  if (comparison.within()) return std::nullopt;
  return difference_text(comparison, got, want);
}

std::optional<std::string> difference_from_reference(const std::string& id, const at::Tensor& got,
                                                     const at::Tensor& want,
                                                     const std::optional<at::Tensor>& scale) {
  const CallKey key = parse_call_id(state().subjects, id);
  const Accuracy accuracy = key.spec->accuracy ? key.spec->accuracy_for(key.dtype) : exact();
  const Comparison comparison = compare(got, want, accuracy, scale.value_or(at::Tensor()));
  if (comparison.within()) return std::nullopt;
  return difference_text(comparison, got, want);
}

bool leaves_results_untouched(const std::string& id) {
  const CallKey key = parse_call_id(state().subjects, id);
  const Outcome outcome = observe(key, state().cache.values, {.take_snapshots = false}).outcome;
  return std::ranges::any_of(outcome.values(), [](const at::Tensor& tensor) { return is_untouched(tensor); });
}

std::vector<std::string> every_dtype_name() {
  std::vector<std::string> names;
  for (const c10::ScalarType dtype : every_dtype()) names.emplace_back(dtype_name(dtype));
  return names;
}

py::object registrations(const std::vector<std::string>& others) {
  return to_python(registrations_of(state().subjects, others));
}

}  // namespace
}  // namespace opgate

PYBIND11_MODULE(_engine, module) {
  opgate::set_forget_exception(&opgate::forget_exception);
  module.doc() = "The OpGate engine: samples, layouts, comparison and digests, the same as in C++.";
  module.def(
      "load_operators", &opgate::load_operators,
      "Loads a library of operators, and returns why that is impossible, or nothing. Raises RuntimeError "
      "where there is no such file, or where its registrations fail.",
      pybind11::arg("library"));
  module.def(
      "load", &opgate::load,
      "Loads spec libraries, and the specs and models that are described in `described` (JSON). `references` "
      "and `scales` are the functions of those specs, by operator, `models` those of classes, by class and "
      "method "
      "(\"__init__\" makes the model), `namespaces` those of builds of kernels, by the name that stays the "
      "same for each build. Raises RuntimeError for a broken spec.",
      pybind11::arg("spec_libraries"), pybind11::arg("described"),
      pybind11::arg("references") = pybind11::dict(), pybind11::arg("scales") = pybind11::dict(),
      pybind11::arg("models") = pybind11::dict(), pybind11::arg("regressions") = "",
      pybind11::arg("recorded") = "", pybind11::arg("samples") = "", pybind11::arg("outputs") = "",
      pybind11::arg("namespaces") = pybind11::dict());
  module.def("finding_text", &opgate::text_of_finding,
             "The text of the finding of one case, whose judgement is JSON, as the program prints it.",
             pybind11::arg("case_id"), pybind11::arg("judgement"));
  module.def("judge", &opgate::judge,
             "Runs native checks on a call. Returns JSON: \"judgements\" by check, and \"facts\" of the call "
             "if a check made it. Raises RuntimeError for an unknown call or check.",
             pybind11::arg("call_id"), pybind11::arg("checks"),
             pybind11::call_guard<pybind11::gil_scoped_release>());
  module.def("obstacle", &opgate::obstacle,
             "Why the case of a check of the Python half is owed before the call is made, or None. Raises "
             "RuntimeError for an "
             "unknown call.",
             pybind11::arg("call_id"), pybind11::arg("missing"), pybind11::arg("needs_fake"),
             pybind11::arg("no_package"));
  module.def("device_types", &opgate::device_types_with_keys,
             "The devices that OpGate knows, and the dispatch key of kernels for each: {'cpu': 'CPU', ...}.");
  module.def("enable_simulator", &opgate::enable_simulator,
             "Replaces ATen's CUDA kernels by those of the CPU on the simulated device. Raises RuntimeError "
             "where CUDA is not simulated in this process.");
  module.def("simulated_failure", &opgate::simulated_failure,
             "What has gone wrong on the simulated device since the last call, whether the device failed, "
             "whether something was asked for that is not simulated, the kernel with its place (\"\" if "
             "there was none), and the error in CUDA's words; None if nothing has. Repairs the device.");
  module.def("unsimulated_library", &opgate::unsimulated_library,
             "The library or compiler that is not simulated and that the message of an exception names, or "
             "None.",
             pybind11::arg("message"));
  module.def("describe", &opgate::describe, "What a call id means, as a dict.", pybind11::arg("call_id"));
  module.def("arguments", &opgate::arguments, "The arguments of a call in schema order, freshly laid out.",
             pybind11::arg("call_id"));
  module.def("classes", &opgate::classes,
             "The TorchBind classes that have a spec, by name: whether each is meant for torch.export.");
  module.def("class_sequences", &opgate::sequences,
             "Random sequences of calls of the class, with new tensors: a list of {construct, calls}.",
             pybind11::arg("call_id"), pybind11::arg("count"));
  module.def("samples", &opgate::samples, "The samples of the call's subject (JSON).",
             pybind11::arg("call_id"));
  module.def("dtypes", &opgate::dtypes, "The dtypes that the subject declares on the call's device.",
             pybind11::arg("call_id"));
  module.def("variants", &opgate::sample_variants,
             "The ways to lay out a sample (JSON) of the call's subject.", pybind11::arg("call_id"),
             pybind11::arg("sample"));
  module.def("judge_sample", &opgate::judge_sample,
             "Runs native checks on another sample (JSON) of the call's subject. Returns JSON: judgements by "
             "check, or null if the operator refuses the sample.",
             pybind11::arg("call_id"), pybind11::arg("sample"), pybind11::arg("dtype"),
             pybind11::arg("variant"), pybind11::arg("checks"),
             pybind11::call_guard<pybind11::gil_scoped_release>());
  module.def("judge_results", &opgate::judge_results,
             "Compares the results of a call that was made elsewhere with the reference, within the spec's "
             "accuracy. Returns a judgement as JSON.",
             pybind11::arg("call_id"), pybind11::arg("results"),
             pybind11::call_guard<pybind11::gil_scoped_release>());
  module.def(
      "plan", &opgate::plan,
      "The planned calls of the loaded operator `name` (ns::op.overload): pairs of a call id and the ids of "
      "the checks that match a pattern in `checks`. `described_checks` (JSON) are the checks of the Python "
      "half. Calls with an integer of 2^62 are left out, because nobody could end one that counts so far. "
      "Raises RuntimeError for a pattern that matches no check.",
      pybind11::arg("described_checks"), pybind11::arg("checks"), pybind11::arg("name"));
  module.def(
      "explanations", &opgate::explanations,
      "The explanation of each of the engine's own checks, as JSON by id: promise, why, fix, example, wrong "
      "and right.");
  module.def("native_checks", &opgate::native_check_ids, "The ids of the engine's own checks.");
  module.def("difference", &opgate::difference,
             "How two tensors differ, in words; None if they do not. They are compared bit for bit, or "
             "within `ulps` at the magnitude of `want`, or of `scale` if that is larger. With `ulps`, the "
             "dtype of `want` may be wider.",
             pybind11::arg("got"), pybind11::arg("want"), pybind11::arg("ulps") = std::nullopt,
             pybind11::arg("scale") = std::nullopt);
  module.def(
      "difference_within_accuracy", &opgate::difference_within_accuracy,
      "How two results of a call differ, in words, where each was rounded in its own way; None if they "
      "are within twice the accuracy that the spec promises, at the largest element of `want`.",
      pybind11::arg("call_id"), pybind11::arg("got"), pybind11::arg("want"));
  module.def(
      "difference_from_reference", &opgate::difference_from_reference,
      "How a result of a call differs from the reference's, in words; None if it is within the accuracy "
      "that the spec promises, or has the same bits if it promises none. `scale` is the magnitude of the "
      "terms, if the spec gives one.",
      pybind11::arg("call_id"), pybind11::arg("got"), pybind11::arg("want"),
      pybind11::arg("scale") = std::nullopt);
  module.def("results_as_text", &opgate::results_as_text,
             "The tensors as text, from which a C++ program can read them.", pybind11::arg("tensors"));
  module.def("values", &opgate::described_values,
             "The values that a TensorArgument (JSON) describes, contiguous and on the CPU. `dtype`, such as "
             "\"float32\", is used if the argument fixes none. Each stream gives other values of the domain.",
             pybind11::arg("described"), pybind11::arg("dtype"), pybind11::arg("stream"));
  module.def("digest", &opgate::digest, "SHA-1 over dtype, shape and row-major bytes of the tensors.",
             pybind11::arg("tensors"));
  module.def("set_without_fake", &opgate::set_without_fake,
             "Says which operators have no fake kernel, though their dispatcher's entry has one that raises.",
             pybind11::arg("operators"));
  module.def("registrations", &opgate::registrations,
             "The kernels and tags that this process has for each operator with a spec and for those named, "
             "by name.",
             pybind11::arg("others"));
  module.def(
      "leaves_results_untouched", &opgate::leaves_results_untouched,
      "Whether the call returns a tensor that it allocated and wrote nothing to, as at::empty_like does.",
      pybind11::arg("call_id"));
  module.def("end_of_printed", &opgate::end_of_printed,
             "Writes what C's stdio still holds, and returns the place of stdout behind it; -1 without one.");
  module.def(
      "send_stack_of_crashes",
      [] {
        opgate::guard_pages::report_faults();
        opgate::send_stack_of_crashes();
      },
      "From now on, this worker reports to the supervisor where it was when a signal ends it.");
  pybind11::class_<opgate::ProcessState>(module, "ProcessState",
                                         "A snapshot of the state of this process and thread that operators "
                                         "must leave as they found it, such as grad "
                                         "mode; see process/process_state.h.")
      .def(pybind11::init([] { return opgate::ProcessState(c10::kCPU); }))
      .def("changes", &opgate::ProcessState::changes, "What has changed since the snapshot, in words.")
      .def("restore", &opgate::ProcessState::restore, "Restores the state of the snapshot.");
  module.def("every_dtype", &opgate::every_dtype_name,
             "The names of the dtypes that the engine makes tensors of.");
  module.def(
      "dtype_number", [](const std::string& name) { return static_cast<int64_t>(opgate::known_dtype(name)); },
      "The number by which an operator's argument of type ScalarType is passed. Raises RuntimeError for a "
      "dtype "
      "that the engine does not know.",
      pybind11::arg("name"));
  module.def("schema", &opgate::schema_of, "The registered schema of \"ns::op.overload\".",
             pybind11::arg("op"));
  module.def(
      "function_schema", &opgate::function_schema,
      "The schema of a function from what its calls have shown, which is JSON as record/log.h describes "
      "it, and the names of the arguments that it gets as tuples. Raises RuntimeError if no call has "
      "returned, or if calls give an argument values of types that have nothing in common.",
      pybind11::arg("seen"));
}
