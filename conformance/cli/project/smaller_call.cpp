#include "cli/project/smaller_call.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "cli/project/project.h"
#include "defects/broken_case.h"
#include "judging/check.h"
#include "plan/calls.h"
#include "plan/case_set.h"
#include "plan/plan.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr size_t kJobs = 2;

/// A size of the sample by the size that takes its place.
using Sizes = std::map<int64_t, int64_t>;

enum class Values { ones, counted, own };

struct Candidate {
  Sample sample;
  Values values = Values::own;
};

int64_t elements_of(const TensorArgument& tensor) {
  int64_t count = 1;
  for (const int64_t size : tensor.shape) count *= size;
  return count;
}

int64_t elements_of(const Sample& sample) {
  int64_t count = 0;
  for (const Argument& argument : sample.arguments) {
    if (argument.tensor() != nullptr) count += elements_of(*argument.tensor());
    if (argument.tensors() == nullptr) continue;
    for (const TensorArgument& tensor : *argument.tensors()) count += elements_of(tensor);
  }
  return count;
}

// Calls `change` for a copy of the sample's tensors, those of lists, too.
Sample with_tensors(const Sample& sample, const std::function<void(TensorArgument&)>& change) {
  Sample changed{"", {}, sample.where, sample.defaults};
  for (const Argument& argument : sample.arguments) {
    if (const TensorArgument* tensor = argument.tensor()) {
      TensorArgument copy = *tensor;
      change(copy);
      changed.arguments.emplace_back(std::move(copy));
    } else if (const auto* list = argument.tensors()) {
      std::vector<TensorArgument> copies = *list;
      for (TensorArgument& copy : copies) change(copy);
      changed.arguments.emplace_back(std::move(copies));
    } else {
      changed.arguments.push_back(argument);
    }
  }
  return changed;
}

// Equal sizes stay equal, because they may have to be; other sizes stay different where that is possible.
std::vector<Sizes> smaller_sizes(const Sample& sample) {
  std::set<int64_t> distinct;
  with_tensors(sample, [&](const TensorArgument& tensor) {
    for (const int64_t size : tensor.shape) {
      if (size > 1) distinct.insert(size);
    }
  });
  std::vector<Sizes> all;
  for (const int64_t first : {1, 2, 3}) {
    Sizes counted, same;
    int64_t next = first;
    for (const int64_t size : distinct) {
      counted[size] = std::min(size, next++);
      same[size] = std::min(size, first);
    }
    all.push_back(std::move(counted));
    all.push_back(std::move(same));
  }
  for (const int64_t size : distinct) {
    for (const int64_t to : {int64_t{1}, int64_t{2}}) all.push_back({{size, std::min(size, to)}});
  }
  all.emplace_back();  // the sizes as they are, with other values
  return all;
}

// Indices keep their values. Where an operator refuses ones or counted values, its other values are left.
bool takes_any_values(const TensorArgument& tensor) {
  return !tensor.dtype || c10::isFloatingType(*tensor.dtype);
}

void set_values(TensorArgument& tensor, Values values) {
  if (values == Values::own || !takes_any_values(tensor)) return;
  std::vector<double> numbers;
  const int64_t count = values == Values::ones ? 1 : elements_of(tensor);
  for (int64_t i = 0; i < count; ++i) numbers.push_back(values == Values::ones ? 1 : static_cast<double>(i));
  tensor.domain = {"literal", std::move(numbers)};
}

std::vector<Candidate> candidates_of(const Sample& sample) {
  constexpr std::array<std::string_view, 3> kSuffixes{" of ones", " counted", ""};
  std::vector<Candidate> candidates;
  std::set<std::string> names{sample.name};
  for (const Sizes& sizes : smaller_sizes(sample)) {
    for (const Values values : {Values::ones, Values::counted, Values::own}) {
      Sample smaller = with_tensors(sample, [&](TensorArgument& tensor) {
        for (int64_t& size : tensor.shape) {
          if (const auto to = sizes.find(size); to != sizes.end()) size = to->second;
        }
        set_values(tensor, values);
      });
      smaller.name = default_name(smaller.arguments) + std::string(kSuffixes[static_cast<size_t>(values)]);
      std::ranges::replace(smaller.name, '/', '_');
      if (elements_of(smaller) > elements_of(sample) || !names.insert(smaller.name).second) continue;
      candidates.push_back({std::move(smaller), values});
    }
  }
  return candidates;
}

}  // namespace

std::optional<OtherCall> find_smaller_call(const ProjectOptions& options, const CallKey& key,
                                           const Check& check, const Judgement& seen) {
  if (key.spec->kind != Spec::Kind::op || check.slow || check.needs_package || check.worker == Worker::aoti)
    return std::nullopt;
  const std::vector<Candidate> candidates = candidates_of(*key.sample);
  if (candidates.empty()) return std::nullopt;
  const auto wanted = BrokenCase(call_id(key) + "/" + check.name, seen).group();
  std::vector<Sample> samples;
  for (const Candidate& candidate : candidates) samples.push_back(candidate.sample);
  ProjectOptions smaller = options;
  smaller.samples = options.read().output / "smaller.json";
  write_samples_of(smaller.samples, *key.spec, std::move(samples));

  Project project = open_project(smaller);
  const std::string device = device_name(key.device, key.simulated);
  const std::string call = fmt::format("{}/*/*/{}/{}/{}", pattern_of(key.spec->id), pattern_of(key.variant),
                                       device, pattern_of(check.name));
  const Filter filter{.ops = {pattern_of(key.spec->id)},
                      .checks = {check.name},
                      .devices = {device},
                      .cases = {call},
                      .simulated = key.simulated};
  std::optional<Plan> plan;
  try {
    plan = make_plan(project.subjects, project.checks, filter);
  } catch (const SetupError&) {  // such as where a size that the variant names is another now
    return std::nullopt;
  }
  using Cost = std::tuple<int64_t, Values, bool, std::string>;  // elements, values, another dtype, id
  std::optional<Cost> best;
  std::string best_sample;
  VerdictListener listener([&](const JudgedCase& judged) {
    const Judgement& judgement = judged.judgement;
    const CallKey tried = judged.calls.key(judged.call);
    const bool usual_dtype = tried.dtype == c10::kFloat || tried.dtype == key.dtype;
    if (judgement.verdict != seen.verdict || !usual_dtype) return;
    const std::string id = judged.id();
    if (BrokenCase(id, judgement).group() != wanted) return;
    const auto candidate = std::ranges::find(candidates, tried.sample->name,
                                             [](const Candidate& each) { return each.sample.name; });
    if (candidate == candidates.end()) return;
    const Cost cost{elements_of(candidate->sample), candidate->values, tried.dtype != c10::kFloat, id};
    if (best && *best <= cost) return;
    best = cost;
    best_sample = candidate->sample.name;
  });
  CaseSet todo(plan->calls, {});
  const Supervisor supervisor(project.workers, *project.python, *plan, filter);
  if (!supervisor.run(todo, kJobs, listener) || !best) return std::nullopt;
  const auto chosen =
      std::ranges::find(candidates, best_sample, [](const Candidate& each) { return each.sample.name; });
  write_samples_of(smaller.samples, *key.spec, {chosen->sample});
  return OtherCall{smaller.samples, std::get<std::string>(*best)};
}

}  // namespace opgate
