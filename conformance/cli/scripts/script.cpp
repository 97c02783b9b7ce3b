#include "cli/scripts/script.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/dtypes.h"
#include "cli/scripts/python_text.h"
#include "inputs/arguments.h"
#include "inputs/damage.h"
#include "inputs/tensor_slots.h"
#include "judging/fault.h"
#include "process/library.h"
#include "run/programs.h"
#include "spec/function_name.h"
#include "spec/registered_name.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr size_t kMostElements = 4096;
constexpr auto kNoScript =
    "# No script without OpGate can test this promise. The script prints what the call returns.\n"
    "print(call(*tensors))\n";

std::string tuple_text(c10::IntArrayRef values) {
  return values.size() == 1 ? fmt::format("({},)", values[0]) : fmt::format("({})", fmt::join(values, ", "));
}

// Whether pybind11 has named a parameter that has no name: "arg0". opgate/methods.py has the same rule.
bool is_without_name(std::string_view parameter) {
  constexpr std::string_view kPrefix = "arg";
  return parameter.starts_with(kPrefix) && parameter.size() > kPrefix.size() &&
         parameter.find_first_not_of("0123456789", kPrefix.size()) == std::string_view::npos;
}

// A method of objects that its calls make: "(lambda self_width, x: Type(width=self_width).method(x))".
std::string method_text(const std::string& method, const c10::FunctionSchema& schema) {
  std::vector<std::string> parameters, made_with, given;
  bool by_keyword = false;
  for (const c10::Argument& formal : schema.arguments()) {
    const std::string name = python_name(formal.name());
    if (formal.kwarg_only() && !std::exchange(by_keyword, true)) parameters.emplace_back("*");
    parameters.push_back(name);
    if (!formal.name().starts_with(kOfObject)) {
      given.push_back(formal.kwarg_only() ? fmt::format("{0}={0}", name) : name);
      continue;
    }
    const std::string in_constructor = formal.name().substr(kOfObject.size());
    made_with.push_back(is_without_name(in_constructor) ? name : fmt::format("{}={}", in_constructor, name));
  }
  const size_t dot = method.rfind("().");
  return fmt::format("(lambda {}: {}({}){}({}))", fmt::join(parameters, ", "), method.substr(0, dot),
                     fmt::join(made_with, ", "), method.substr(dot + 2), fmt::join(given, ", "));
}

// "torch.ops.my_ops.relu.default", or a function of a module; of a torch.autograd.Function, what applies it.
std::string overload_text(std::string_view name, const c10::FunctionSchema& schema) {
  std::string text = registered_name(name);
  if (is_function(name)) {
    std::ranges::replace(text, ':', '.');
    if (is_method_of_new_object(name)) return method_text(text, schema);
    return fmt::format("getattr({0}, \"apply\", {0})", text);
  }
  text.replace(text.find("::"), 2, ".");
  const bool overloaded = name.find('.', name.find("::")) != std::string_view::npos;
  return fmt::format("torch.ops.{}{}", text, overloaded ? "" : ".default");
}

class Script {
 public:
  Script(const PlannedCall& call, const Config& config) : spec_(*call.key.spec), config_(config) {
    if (spec_.kind != Spec::Kind::op)
      throw SetupError(
          fmt::format("--python writes calls of operators, and {} is a model or a class; use `opgate repro` "
                      "without --python",
                      spec_.id));
    ValueCache values;
    arguments_ = materialize(on_cpu(call.key), values);  // also on a machine without the device
    device_ = call.key.device;
    damage_ = damage_of(call.key.variant);
    demand_few_elements();
    demand_defined();
  }

  std::string text(const Check& check, const Judgement& judgement) const {
    const std::string made = inputs();
    const std::string values = made + passed();
    std::string names;
    for (const std::string_view name : {"inf", "nan"}) {
      if (values.find(name) != std::string::npos)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    return fmt::format("{}{}import torch\n\n{}\n{}\n\n{}\n\n{}", docstring(check, judgement),
                       names.empty() ? "" : fmt::format("from math import {}\n\n", names), loading(check),
                       made, function("call", spec_.name), asked(check, judgement));
  }

 private:
  void demand_few_elements() const {
    std::map<size_t, size_t> elements;  // by storage
    for (const TensorInput& input : arguments_.tensors)
      elements[input.storage] = input.tensor.storage().nbytes() / input.tensor.element_size();
    size_t all = 0;
    for (const auto& [storage, count] : elements) all += count;
    if (all <= kMostElements) return;
    throw SetupError(fmt::format(
        "the arguments have {} elements, and --python writes no more than {}: choose a case of a smaller "
        "sample; see `opgate list cases --op {}`",
        all, kMostElements, spec_.id));
  }

  void demand_defined() const {
    const auto is_undefined = [](const at::Tensor& tensor) { return !tensor.defined(); };
    for (const c10::IValue& value : arguments_.stack) {
      if ((value.isTensor() && is_undefined(value.toTensor())) ||
          (value.isTensorList() && std::ranges::any_of(value.toTensorVector(), is_undefined)))
        throw SetupError(
            "--python cannot pass an undefined tensor, which only C++ callers can; choose another case");
    }
  }

  static std::string docstring(const Check& check, const Judgement& judgement) {
    std::string said = "this promise is kept";
    if (judgement.finding) {
      said = judgement.finding->happened;
      if (!judgement.finding->likely.empty()) said += "\n" + judgement.finding->likely;
    } else if (judgement.verdict != Verdict::pass) {
      said = judgement.reason;
      for (const std::string& call : judgement.stack) said += "\n  " + call;
    }
    std::ranges::replace(said, '"', '\'');
    std::ranges::replace(said, '\\', '/');
    return fmt::format("\"\"\"{}: {}\"\"\"\n\n", check.name, said);
  }

  std::string loading(const Check& check) const {
    const auto lends = [&](const std::string& name) { return lends_symbols(config_.find_library(name)); };
    std::string text = std::ranges::any_of(config_.libraries, lends) ? "import ctypes\n\n" : "";
    for (const std::string& library : config_.libraries) {
      const std::filesystem::path file = config_.find_library(library);
      if (lends(library))
        text += fmt::format("ctypes.CDLL({}, mode=ctypes.RTLD_GLOBAL)  # a library below needs its symbols\n",
                            python_text(relative(file)));
      else
        text += fmt::format("torch.ops.load_library({})\n", python_text(relative(file)));
    }
    if (config_.modules.empty() || !needs_modules(check)) return text;
    std::vector<std::string> folders;
    for (const auto& folder : this_program(config_).python_path)
      folders.push_back(python_text(folder.string()));
    text += fmt::format("\nimport sys\n\nsys.path[:0] = [{}]\n", fmt::join(folders, ", "));
    for (const std::string& module : config_.modules) {
      if (std::ranges::find(config_.kernels, module, &KernelFolder::name) != config_.kernels.end()) continue;
      text += fmt::format(
          "import {}  # registers the operator or its kernels; importing its package may do\n", module);
    }
    for (const KernelFolder& kernel : config_.kernels) text += import_of(kernel);
    if (is_function(spec_.name))
      text += fmt::format("import {}\n", registered_name(spec_.name.substr(0, spec_.name.find(':'))));
    return text;
  }

  // Imports the module of a kernel, which is in no folder of sys.path, as the package `kernels` does.
  static std::string import_of(const KernelFolder& kernel) {
    return fmt::format(
        "\nimport importlib.util\n\n"
        "spec = importlib.util.spec_from_file_location({0}, {1})\n"
        "sys.modules[{0}] = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(sys.modules[{0}])\n",
        python_text(kernel.id), python_text(relative(kernel.folder / "__init__.py")));
  }

  // The path as seen from here where it is below, so that the script also runs in another checkout.
  static std::string relative(const std::filesystem::path& file) {
    const auto below = file.lexically_normal().lexically_relative(std::filesystem::current_path());
    return below.empty() || *below.begin() == ".." ? file.string() : below.string();
  }

  // Whether Python modules register what the script calls: the operator, its kernel, or its fake kernel.
  bool needs_modules(const Check& check) const {
    const bool asks_fake = check.worker == Worker::python || check.group() == "fake";
    return config_.libraries.empty() || spec_.kernels_in_python ||
           (asks_fake && !spec_.op->hasComputedKernelForDispatchKey(c10::DispatchKey::Meta));
  }

  // True if the tensor is contiguous, fills its whole storage, and shares it with no other argument.
  bool is_dense_alone(const TensorInput& input) const {
    const at::Tensor& tensor = input.tensor;
    const auto bytes = static_cast<size_t>(tensor.numel() * tensor.element_size());
    return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg() &&
           bytes == tensor.storage().nbytes() &&
           std::ranges::count(arguments_.tensors, input.storage, &TensorInput::storage) == 1;
  }

  // The text that moves a tensor to the case's device; empty for the tensor that a bad input leaves on the
  // CPU.
  std::string moved(const TensorInput& input) const {
    const bool stays =
        damage_ && damage_->kind == InputDamage::Kind::device && damage_->argument == input.name;
    if (device_ == c10::kCPU || stays) return "";
    return fmt::format(".to({})", python_text(c10::Device(device_).str()));
  }

  // Lines without numbers for a tensor of ones, or of 0, 1, 2 ..., also if its storage has gaps; empty for
  // other tensors.
  std::string plain_text(const TensorInput& input) const {
    const at::Tensor& tensor = input.tensor;
    const bool is_alone = std::ranges::count(arguments_.tensors, input.storage, &TensorInput::storage) == 1;
    if (!is_alone || tensor.numel() == 0 || tensor.is_conj() || tensor.is_neg() ||
        !tensor.is_floating_point())
      return "";
    const at::Tensor values = tensor.to(at::kDouble).flatten();
    std::string made;
    const std::string dtype = tensor.scalar_type() == at::kFloat
                                  ? ""
                                  : fmt::format(", dtype=torch.{}", dtype_name(tensor.scalar_type()));
    if (values.equal(at::ones_like(values))) {
      made = fmt::format("torch.ones({}{})", tuple_text(tensor.sizes()), dtype);
    } else if (values.equal(at::arange(static_cast<double>(tensor.numel()), values.options()))) {
      made =
          fmt::format("torch.arange({}.0{}).reshape({})", tensor.numel(), dtype, tuple_text(tensor.sizes()));
    } else {
      return "";
    }
    const std::string name = python_name(input.name), device = moved(input);
    if (is_dense_alone(input)) return fmt::format("{} = {}{}\n", name, made, device);
    if (input.geometry.numel() > input.geometry.elements)
      return "";  // elements overlap, and cannot be written
    return fmt::format(
        "storage_{} = torch.full(({},), -1.0{}){}\n{} = storage_{}.as_strided({}, {}, {})\n{}.copy_({})\n",
        name, tensor.storage().nbytes() / tensor.element_size(), dtype, device, name, name,
        tuple_text(tensor.sizes()), tuple_text(tensor.strides()), tensor.storage_offset(), name, made);
  }

  std::string inputs() const {
    std::string text;
    std::map<size_t, std::string> storages;
    std::vector<std::string> names;
    for (const TensorInput& input : arguments_.tensors) {
      const std::string name = python_name(input.name);
      names.push_back(name);
      const std::string device = moved(input);
      if (const std::string plain = plain_text(input); !plain.empty()) {
        text += plain;
        continue;
      }
      if (is_dense_alone(input)) {
        text += fmt::format("{} = {}.reshape({}){}\n", name, python_storage(input.tensor),
                            tuple_text(input.tensor.sizes()), device);
        continue;
      }
      auto [storage, is_new] = storages.try_emplace(input.storage, "storage_" + name);
      if (is_new) text += fmt::format("{} = {}{}\n", storage->second, python_storage(input.tensor), device);
      const std::string view =
          fmt::format("{}.as_strided({}, {}, {})", storage->second, tuple_text(input.tensor.sizes()),
                      tuple_text(input.tensor.strides()), input.tensor.storage_offset());
      const std::string_view conjugated = input.tensor.is_conj() ? ".conj()" : "";
      text += input.tensor.is_neg() ? fmt::format("{} = torch._neg_view({}{})\n", name, view, conjugated)
                                    : fmt::format("{} = {}{}\n", name, view, conjugated);
    }
    return text + fmt::format("tensors = [{}]\n", fmt::join(names, ", "));
  }

  // The text of argument `position`: a name, a list of names, or a value.
  std::string given(size_t position) const {
    const c10::IValue& value = arguments_.stack.at(position);
    std::vector<std::string> names;
    for (const TensorInput& input : arguments_.tensors) {
      if (input.position != position) continue;
      if (!input.element) return python_name(input.name);
      names.push_back(python_name(input.name));
    }
    if (value.isTensorList()) return fmt::format("[{}]", fmt::join(names, ", "));
    return python_text(value);
  }

  struct Given {
    std::vector<std::string> positional;
    std::vector<std::pair<std::string, std::string>> keywords;  // by their names in the schema
  };

  Given all_given() const {
    Given all;
    const auto& formals = spec_.op->schema().arguments();
    for (size_t i = 0; i < std::min(arguments_.stack.size(), formals.size()); ++i) {
      if (formals[i].kwarg_only()) {
        all.keywords.emplace_back(formals[i].name(), given(i));
      } else {
        all.positional.push_back(given(i));
      }
    }
    return all;
  }

  // "x, 2.0, eps=1e-05"
  std::string passed() const {
    auto [all, keywords] = all_given();
    for (const auto& [name, value] : keywords) {
      all.push_back(name == python_name(name) ? fmt::format("{}={}", name, value)
                                              : fmt::format("**{{{}: {}}}", python_text(name), value));
    }
    return fmt::format("{}", fmt::join(all, ", "));
  }

  // The text of "def NAME(TENSORS)", which calls the operator `op` with the arguments of the case.
  std::string function(std::string_view name, std::string_view op) const {
    std::vector<std::string> parameters;
    for (const TensorInput& input : arguments_.tensors) parameters.push_back(python_name(input.name));
    const std::string call = fmt::format("{}({})", overload_text(op, spec_.op->schema()), passed());
    const std::string head =
        fmt::format("def {}({}):\n{}", name, fmt::join(parameters, ", "),
                    spec_.promised(Promise::nondeterministic_seeded) ? "    torch.manual_seed(0)\n" : "");
    if (!spec_.op->schema().returns().empty()) return fmt::format("{}    return {}\n", head, call);
    return fmt::format("{}    {}\n    return [{}]\n", head, call, fmt::join(parameters, ", "));
  }

  std::string asked(const Check& check, const Judgement& judgement) const {
    if (judgement.finding && judgement.finding->fault.kind == fault::kReadsOutside)
      return other_surroundings();
    if (judgement.finding && judgement.finding->fault.kind == fault::kWritesOutside) {
      return "# Nothing in the script sees the write: run it under a sanitizer, as with `valgrind python`.\n"
             "call(*tensors)\n";
    }
    if (check.name == "value.reference") return against_reference();
    if (check.name == "effect.mutation") return unchanged();
    if (check.name == "opcheck") return opcheck();
    return check.explanation.script.empty() ? kNoScript : check.explanation.script + "\n";
  }

  std::string against_reference() const {
    if (spec_.reference_op.empty())
      return fmt::format("print(call(*tensors))  # compare with the reference in {}\n", spec_.where);
    return fmt::format(
        "{}\n\n"
        "wide = [tensor.double() if tensor.is_floating_point() else tensor.clone() for tensor in tensors]\n"
        "wanted = reference(*wide)\n"
        "torch.testing.assert_close(call(*tensors), wanted, check_dtype=False, equal_nan=True)\n",
        function("reference", spec_.reference_op));
  }

  // Calls the operator on the same tensors with other values before, after and between their elements.
  static std::string other_surroundings() {
    return "def within(value):\n"
           "    placed = []\n"
           "    for tensor in tensors:\n"
           "        room = 128 + sum((size - 1) * step for size, step in zip(tensor.shape, "
           "tensor.stride()))\n"
           "        storage = torch.full((room,), value, dtype=tensor.dtype)\n"
           "        placed.append(storage.as_strided(tensor.shape, tensor.stride(), 64).copy_(tensor))\n"
           "    return placed\n\n\n"
           "torch.testing.assert_close(call(*within(1)), call(*within(2)), equal_nan=True)\n";
  }

  std::string unchanged() const {
    std::vector<std::string> names;
    for (const TensorInput& input : arguments_.tensors) {
      const bool is_written = std::ranges::any_of(arguments_.tensors, [&](const TensorInput& other) {
        return other.storage == input.storage && is_mutable(spec_, other.position);
      });
      if (!is_written) names.push_back(python_name(input.name));
    }
    return fmt::format(
        "inputs = [{}]\n"
        "before = [tensor.untyped_storage().tolist() for tensor in inputs]\n"
        "call(*tensors)\n"
        "after = [tensor.untyped_storage().tolist() for tensor in inputs]\n"
        "assert after == before, \"bytes of an input's storage were written\"\n",
        fmt::join(names, ", "));
  }

  std::string opcheck() const {
    const auto [positional, keywords] = all_given();
    std::vector<std::string> named;
    for (const auto& [name, value] : keywords)
      named.push_back(fmt::format("{}: {}", python_text(name), value));
    return fmt::format("torch.library.opcheck({}, ({}{}), {{{}}})\n",
                       overload_text(spec_.name, spec_.op->schema()), fmt::join(positional, ", "),
                       positional.size() == 1 ? "," : "", fmt::join(named, ", "));
  }

  const Spec& spec_;
  const Config& config_;
  Arguments arguments_;
  c10::DeviceType device_;
  std::optional<InputDamage> damage_;  // of a bad input
};

}  // namespace

std::string script(const PlannedCall& call, const Check& check, const Judgement& judgement,
                   const Config& config) {
  return Script(call, config).text(check, judgement);
}

}  // namespace opgate
