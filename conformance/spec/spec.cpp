#include <ATen/core/function_schema.h>
#include <fmt/format.h>
#include <opgate/spec.h>

#include <algorithm>

#include "spec/specs.h"

namespace opgate {
namespace {

struct Registration {
  std::string name;
  std::function<void(Spec&)> write;
  std::string where;
};

std::vector<Registration>& registrations() {
  static std::vector<Registration> all;
  return all;
}

std::string at_line(const char* file, unsigned line) { return fmt::format("{}:{}", file, line); }

// Promises that cannot both be kept.
void check_promises(const Spec& spec) {
  const auto contradiction = [&](Promise one, std::string_view other, std::string_view why) {
    throw SpecError(fmt::format("{}: the spec of {} contradicts itself: {} and {}: {}", spec.where, spec.name,
                                to_string(one), other, why));
  };
  if (spec.promised(Promise::draws_random) && spec.promised(Promise::batch_invariant))
    contradiction(Promise::draws_random, "batch_invariant",
                  "the numbers that a row gets depend on the rows before");
  if (spec.promised(Promise::twice_differentiable) && !spec.promised(Promise::differentiable))
    contradiction(Promise::twice_differentiable, "no differentiable", "promise both");
  if (spec.promised(Promise::capturable) && !spec.dtypes.contains(c10::kCUDA))
    contradiction(Promise::capturable, "no dtypes on CUDA", "only CUDA calls are captured");
  const auto wrong = [&](const std::string& what) {
    throw SpecError(fmt::format("{}: the spec of {} {}", spec.where, spec.name, what));
  };
  if (!spec.accuracy->exact && !(spec.accuracy->ulps >= 0))
    wrong(fmt::format("promises ulps({}), which no result can keep", spec.accuracy->ulps));
  if (spec.planted && spec.planted->twin == spec.name)
    wrong("contradicts itself: it is wrong on purpose, and its own correct twin");
  const Dtypes known = every_dtype();
  for (const auto& [device, accepted] : spec.dtypes) {
    for (const c10::ScalarType dtype : accepted) {
      if (std::ranges::find(known, dtype) == known.end())
        wrong(fmt::format("promises {}, of which OpGate makes no tensors: it would never be tried",
                          c10::toString(dtype)));
    }
  }
  if (spec.gradient_accuracy && !spec.promised(Promise::differentiable))
    wrong("says how near its gradients are, and not that it has any: promise differentiable");
  if (spec.accuracy->exact && spec.accuracy->by_inputs) {
    throw SpecError(
        fmt::format("{}: the spec of {} contradicts itself: exact() has no scale to be scaled by inputs",
                    spec.where, spec.name));
  }
}

// What two calls of an operator without a reference may differ by, where they must agree.
constexpr Accuracy kDraftAccuracy = ulps(64);

Spec written(const Registration& registration) {
  Spec spec;
  spec.name = registration.name;
  spec.where = registration.where;
  try {
    registration.write(spec);
  } catch (const SetupError&) {
    throw;
  } catch (const std::exception& error) {  // a spec is user code, and may throw anything
    throw SpecError(fmt::format("{}: the spec of {} throws: {}", spec.where, spec.name, error.what()));
  }
  complete_draft(spec);
  validate(spec);
  return spec;
}

}  // namespace

void complete_draft(Spec& spec) {
  if (spec.draft && spec.reference == nullptr && !spec.accuracy) spec.accuracy = kDraftAccuracy;
}

void validate(const Spec& spec) {
  const auto demand = [&](bool present, std::string_view what, std::string_view how) {
    if (!present)
      throw SpecError(
          fmt::format("{}: the spec of {} names no {}: add {}", spec.where, spec.name, what, how));
  };
  demand(!spec.dtypes.empty(), "dtypes", "spec.dtypes(floating())");
  if (spec.kind == Spec::Kind::torch_class) return;  // fit_to_class demands the rest
  demand(spec.reference != nullptr || spec.draft, "reference",
         "spec.reference(\"aten::...\") or a lambda; or say spec.draft(), until there is one");
  demand(spec.accuracy.has_value(), "accuracy", "spec.accuracy(exact()) or spec.accuracy(ulps(4))");
  demand(!spec.samples.empty(), "sample", "spec.sample({uniform({4, 8})})");
  check_promises(spec);
}

const Sample* Spec::find_sample(std::string_view sample_name) const {
  const auto found = std::ranges::find(samples, sample_name, &Sample::name);
  if (found != samples.end()) return &*found;
  const auto name = [](const Rejection& rejection) -> const std::string& { return rejection.sample.name; };
  const auto rejected = std::ranges::find(rejections, sample_name, name);
  return rejected == rejections.end() ? nullptr : &rejected->sample;
}

const Rejection* Spec::find_rejection(const Sample& sample) const {
  for (const Rejection& rejection : rejections) {
    if (&rejection.sample == &sample) return &rejection;
  }
  return nullptr;
}

std::string_view to_string(Promise promise) {
  switch (promise) {
    case Promise::deterministic:
      return "deterministic";
    case Promise::layout_invariant:
      return "layout_invariant";
    case Promise::thread_invariant:
      return "thread_invariant";
    case Promise::batch_invariant:
      return "batch_invariant";
    case Promise::draws_random:
      return "draws_random";
    case Promise::capturable:
      return "capturable";
    case Promise::differentiable:
      return "differentiable";
    case Promise::twice_differentiable:
      return "twice_differentiable";
    case Promise::forward_differentiable:
      return "forward_differentiable";
    case Promise::vmappable:
      return "vmappable";
    case Promise::picklable:
      return "picklable";
    case Promise::flattenable:
      return "flattenable";
  }
  return "";
}

Promise known_promise(const std::string& word, const std::string& where) {
  std::vector<std::string_view> known;
  for (const Promise promise :
       {deterministic, layout_invariant, thread_invariant, batch_invariant, draws_random, capturable,
        differentiable, twice_differentiable, forward_differentiable, vmappable}) {
    known.push_back(to_string(promise));
    if (known.back() == word) return promise;
  }
  throw SpecError(fmt::format("{}: '{}' is no promise; there are: {}", where, word, fmt::join(known, ", ")));
}

SpecWriter& SpecWriter::dtypes(Dtypes accepted) {
  dtypes(c10::kCPU, accepted);
  return dtypes(c10::kCUDA, std::move(accepted));
}

SpecWriter& SpecWriter::dtypes(c10::DeviceType device, Dtypes accepted) {
  if (accepted.empty()) {
    spec_.dtypes.erase(device);
  } else {
    spec_.dtypes[device] = std::move(accepted);
  }
  return *this;
}

void fill_defaults(const c10::OperatorHandle& reference, const std::string& where, torch::jit::Stack& stack) {
  const std::vector<c10::Argument>& arguments = reference.schema().arguments();
  const auto unfit = [&](const std::string& why) {
    return SpecError(fmt::format("{}: the reference does not take the operator's {} arguments: {}{}", where,
                                 stack.size(), c10::toString(reference.schema()), why));
  };
  if (stack.size() > arguments.size()) throw unfit("");
  for (size_t i = stack.size(); i < arguments.size(); ++i) {
    if (!arguments[i].default_value())
      throw unfit(fmt::format(" has no default for `{}`", arguments[i].name()));
    stack.push_back(*arguments[i].default_value());
  }
}

Reference reference_by_name(std::string op_name, std::string where) {
  return [op_name = std::move(op_name), where = std::move(where)](const c10::OperatorHandle&,
                                                                  torch::jit::Stack& stack) {
    const c10::OperatorHandle op = find_reference(op_name, where);
    fill_defaults(op, where, stack);
    op.callBoxed(stack);
  };
}

c10::OperatorHandle find_reference(const std::string& op_name, const std::string& where) {
  if (const auto op = find_op(op_name)) return *op;
  throw SpecError(fmt::format("{}: the reference {} is no operator of this process", where, op_name));
}

SpecWriter& SpecWriter::reference(std::string op_name) {
  spec_.reference = reference_by_name(op_name, spec_.where);
  spec_.reference_op = std::move(op_name);
  return *this;
}

SpecWriter& SpecWriter::accuracy(Accuracy promised) {
  spec_.accuracy = promised;
  return *this;
}

SpecWriter& SpecWriter::gradient_accuracy(Accuracy promised) {
  spec_.gradient_accuracy = promised;
  return *this;
}

SpecWriter& SpecWriter::sample(std::vector<Argument> arguments, std::source_location here) {
  const std::string where = at_line(here.file_name(), here.line());
  std::string name = default_name(arguments);
  spec_.samples.push_back({std::move(name), std::move(arguments), where});
  return *this;
}

SpecWriter& SpecWriter::named(std::string name) {
  if (spec_.samples.empty())
    throw SpecError(fmt::format("{}: .named(\"{}\") follows no sample", spec_.where, name));
  spec_.samples.back().name = std::move(name);
  return *this;
}

SpecWriter& SpecWriter::promises(std::initializer_list<Promise> words) {
  spec_.promises.insert(words);
  return *this;
}

SpecWriter& SpecWriter::rejects(std::string name, std::vector<Argument> arguments,
                                std::source_location here) {
  const std::string where = at_line(here.file_name(), here.line());
  spec_.rejections.push_back({{std::move(name), std::move(arguments), where}, ""});
  return *this;
}

SpecWriter& SpecWriter::because(std::string part) {
  if (spec_.rejections.empty())
    throw SpecError(fmt::format("{}: .because(\"{}\") follows no rejection", spec_.where, part));
  spec_.rejections.back().because = std::move(part);
  return *this;
}

SpecWriter& SpecWriter::trusts(std::string argument) {
  spec_.trusted.insert(std::move(argument));
  return *this;
}

SpecWriter& SpecWriter::wants_contiguous(std::string argument) {
  spec_.wants_contiguous.insert(std::move(argument));
  return *this;
}

SpecWriter& SpecWriter::unspecified(size_t index) {
  spec_.unspecified.insert(index);
  return *this;
}

BenchWriter SpecWriter::bench(std::vector<Argument> arguments, std::source_location here) {
  std::string name = default_name(arguments);
  Bench& bench = spec_.benches.emplace_back();
  bench.sample = {std::move(name), std::move(arguments), at_line(here.file_name(), here.line())};
  return BenchWriter(bench);
}

SpecWriter& SpecWriter::draft() {
  spec_.draft = true;
  return *this;
}

SpecWriter& SpecWriter::planted_for(std::string check, std::string twin) {
  spec_.planted = Planted{std::move(check), std::move(twin)};
  return *this;
}

bool register_spec(std::string name, SpecFunction function, const char* file, int line) {
  const auto write = [function](Spec& spec) {
    SpecWriter writer(spec);
    function(writer);
  };
  return register_subject(std::move(name), write, at_line(file, static_cast<unsigned>(line)));
}

bool register_subject(std::string name, std::function<void(Spec&)> write, std::string where) {
  registrations().push_back({std::move(name), std::move(write), std::move(where)});
  return true;
}

std::vector<Spec> registered_specs() {
  std::vector<Spec> specs;
  for (const Registration& registration : registrations()) specs.push_back(written(registration));
  std::ranges::sort(specs, {}, &Spec::name);
  return specs;
}

void name_subjects(std::vector<Spec>& specs) {
  const auto base = [](const Spec& spec) {
    const auto colon = spec.name.find("::");
    return colon == std::string::npos ? spec.name : spec.name.substr(colon + 2);
  };
  for (Spec& spec : specs) {
    spec.id = base(spec);
    // O(n^2) over operators, of which a library has hundreds at most.
    for (const Spec& other : specs) {
      if (&other == &spec) continue;
      if (other.name == spec.name) {
        throw SpecError(fmt::format("{}: {} has a spec already, at {}", spec.where, spec.name, other.where));
      }
      if (base(other) == spec.id) spec.id = spec.name;
    }
  }
}

std::optional<c10::OperatorHandle> find_op(const std::string& name) {
  const auto colon = name.find("::");
  const auto dot = colon == std::string::npos ? colon : name.find('.', colon);
  const std::string base = name.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({base, overload});
}

}  // namespace opgate
