#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/dtypes.h"
#include "base/errors.h"
#include "base/text.h"
#include "spec/spec.h"
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

// Throws if the spec makes promises that cannot all be kept, or that would never be checked.
void check_promises(const Spec& spec) {
  const auto contradiction = [&](Promise one, std::string_view other, std::string_view why) {
    throw spec_error("{}: the spec of {} contradicts itself: {} and {}: {}", spec.where, spec.name,
                     to_string(one), other, why);
  };
  if (spec.promised(Promise::nondeterministic_seeded) && spec.promised(Promise::batch_invariant))
    contradiction(Promise::nondeterministic_seeded, "batch_invariant",
                  "the numbers that a row gets depend on the rows before");
  if (spec.promised(Promise::twice_differentiable) && !spec.promised(Promise::differentiable))
    contradiction(Promise::twice_differentiable, "no differentiable", "promise both");
  if (spec.promised(Promise::capturable) && spec.dtypes.size() == spec.dtypes.count(c10::kCPU))
    contradiction(Promise::capturable, "no dtypes on an accelerator such as CUDA",
                  "calls on the CPU are not captured");
  const auto wrong = [&](const std::string& what) {
    throw spec_error("{}: the spec of {} {}", spec.where, spec.name, what);
  };
  if (!spec.accuracy->exact && !(spec.accuracy->ulps >= 0))
    wrong(fmt::format("promises ulps({}), which no result can keep: give a number of 0 or more",
                      spec.accuracy->ulps));
  if (spec.promised(Promise::refuses_overlap) && spec.unspecified_for.contains(std::string(kOverlap)))
    contradiction(Promise::refuses_overlap, "unspecified_for(\"overlap\")",
                  "the exception is what is specified");
  for (const std::string& condition : spec.unspecified_for) {
    if (condition != kOverlap && condition != kNan)
      wrong(fmt::format("has unspecified_for(\"{}\"), which is no condition; there are: {}, {}", condition,
                        kOverlap, kNan));
  }
  if (spec.planted && spec.planted->twin == spec.name)
    wrong("contradicts itself: it is wrong on purpose, and its own correct twin");
  const Dtypes known = every_dtype();
  for (const auto& [device, accepted] : spec.dtypes) {
    for (const c10::ScalarType dtype : accepted) {
      if (std::ranges::find(known, dtype) == known.end())
        wrong(fmt::format("promises {}, but OpGate cannot make such tensors: it would never be tested",
                          c10::toString(dtype)));
    }
  }
  if (spec.gradient_accuracy && !spec.promised(Promise::differentiable))
    wrong("has a gradient_accuracy, but does not promise gradients: promise differentiable");
  if (spec.accuracy->exact && spec.accuracy->by_inputs)
    wrong("contradicts itself: exact() has no scale to be scaled by inputs");
  if (spec.accuracy->exact && (spec.accuracy->dtype || spec.accuracy->input_dtype))
    wrong("contradicts itself: exact() has no ulps, which could be those of another dtype");
  for (const auto& named : {spec.accuracy, spec.gradient_accuracy}) {
    if (named && named->dtype && !c10::isFloatingType(*named->dtype))
      wrong(fmt::format("promises an accuracy in ulps of {}: name a floating dtype",
                        dtype_name(*named->dtype)));
  }
}

// The accuracy of a draft that names none, for checks that compare two calls of the operator.
constexpr Accuracy kDraftAccuracy = ulps(64).of_input_dtype();

Spec written(const Registration& registration) {
  Spec spec;
  spec.name = registration.name;
  spec.where = registration.where;
  try {
    registration.write(spec);
  } catch (const SetupError&) {
    throw;
  } catch (const std::exception& error) {  // a spec is user code, and may throw anything
    throw spec_error("{}: the spec of {} throws: {}", spec.where, spec.name, error.what());
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
      throw spec_error("{}: the spec of {} names no {}: add {}", spec.where, spec.name, what, how);
  };
  demand(!spec.dtypes.empty(), "dtypes", "spec.dtypes(floating())");
  if (spec.kind == Spec::Kind::torch_class) return;  // fit_to_class demands the rest
  demand(spec.reference != nullptr || spec.draft, "reference",
         "spec.reference(\"aten::...\") or a lambda; or say spec.draft(), until there is one");
  demand(spec.accuracy.has_value(), "accuracy", "spec.accuracy(exact()) or spec.accuracy(ulps(4))");
  demand(!spec.samples.empty(), "sample", "spec.sample({uniform({4, 8})})");
  check_promises(spec);
}

Accuracy Spec::accuracy_for(c10::ScalarType sample_dtype) const {
  return accuracy->input_dtype ? accuracy->of(sample_dtype) : *accuracy;
}

const Sample* Spec::find_sample(std::string_view sample_name) const {
  if (const Sample* exact = sample_of_name(sample_name)) return exact;
  return sample_of_name(shortest_numbers(sample_name));
}

const Sample* Spec::sample_of_name(std::string_view sample_name) const {
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
    // This is O(n^2), but a library has hundreds of operators at most.
    for (const Spec& other : specs) {
      if (&other == &spec) continue;
      if (other.name == spec.name) {
        throw spec_error("{}: {} has a spec already, at {}", spec.where, spec.name, other.where);
      }
      if (base(other) == spec.id) spec.id = spec.name;
    }
  }
}

}  // namespace opgate
