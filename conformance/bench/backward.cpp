#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <memory>

#include "bench/agreement.h"
#include "bench/benchmark_pair.h"
#include "bench/contender.h"
#include "bench/rounds.h"
#include "bench/stopwatch.h"
#include "compare/agreement.h"
#include "derivatives/autograd.h"
#include "inputs/arguments.h"
#include "spec/spec.h"

namespace opgate {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr uint64_t kCotangentSeed = 20160816;

// A floating-point argument with respect to which results are differentiated.
struct Leaf {
  std::string name;
  at::Tensor tensor;
};

std::vector<Leaf> leaves_of(const Arguments& arguments) {
  std::vector<Leaf> leaves;
  for (const TensorInput& input : arguments.tensors) {
    if (input.tensor.is_floating_point()) leaves.push_back({input.name, input.tensor.requires_grad_()});
  }
  return leaves;
}

Tensors random_like(const Tensors& outputs) {
  Tensors all;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(kCotangentSeed);
  for (const at::Tensor& output : outputs) {
    const at::Tensor random =
        at::empty(output.sizes(), output.options().device(c10::kCPU).requires_grad(false));
    all.push_back(random.uniform_(-1, 1, generator).to(output.device()));
  }
  return all;
}

// A contender after its forward call with gradients enabled.
struct Graph {
  Contender contender;
  Tensors roots;  // the results that require a gradient

  Tensors gradients_at(const Tensors& leaves, const Tensors& cotangents) const {
    Tensors found;
    contender.attempt([&] { found = gradients(roots, leaves, cotangents); });
    return found;
  }
};

std::vector<ChangingInput> uniform_inputs(const Tensors& tensors) {
  std::vector<ChangingInput> inputs;
  for (const at::Tensor& tensor : tensors) inputs.push_back({tensor, {"uniform", {}}});
  return inputs;
}

// The two sides with the same cotangents, which change from round to round.
class BackwardRounds {
 public:
  BackwardRounds(Graph op, Graph baseline, CallKey key, std::vector<Leaf> leaves, Tensors cotangents)
      : op_(std::move(op)),
        baseline_(std::move(baseline)),
        key_(std::move(key)),
        leaves_(std::move(leaves)),
        cotangents_(std::move(cotangents)),
        changing_(uniform_inputs(cotangents_)) {
    for (const Leaf& leaf : leaves_) inputs_.push_back(leaf.tensor);
  }

  double time_operator(int64_t calls) { return time(op_, calls, mine_); }
  double time_baseline(int64_t calls) { return time(baseline_, calls, theirs_); }

  void renew() {
    ++round_;
    changing_.change();
  }

  void check() const {
    std::vector<Compared> compared;
    for (size_t i = 0; i < leaves_.size(); ++i) {
      compared.push_back({fmt::format("the gradient at `{}`", leaves_[i].name),
                          mine_.outcome().returned().at(i), theirs_.outcome().returned().at(i)});
    }
    if (mine_.has_changed())
      throw WrongAnswer(
          "the gradients changed after the call had returned: work that is done later is not timed");
    if (const auto difference = rough_difference(compared, key_.spec->accuracy_for(key_.dtype)))
      throw WrongAnswer(fmt::format("in round {}, on other values than before: {}", round_, *difference));
  }

 private:
  double time(const Graph& graph, int64_t calls, RoundResult& result) {
    result = {};  // frees the gradients of the round before
    double seconds = 0;
    Tensors found;
    graph.contender.attempt([&] {
      seconds = seconds_of(key_.device, [&] {
        for (int64_t call = 0; call < calls; ++call) found = gradients(graph.roots, inputs_, cotangents_);
      });
    });
    result = RoundResult(torch::jit::Stack(found.begin(), found.end()));
    return seconds;
  }

  Graph op_, baseline_;
  CallKey key_;
  std::vector<Leaf> leaves_;
  Tensors inputs_, cotangents_;
  ChangingInputs changing_;
  RoundResult mine_, theirs_;
  size_t round_ = 0;
};

// Stores the results that require a gradient. Throws ContenderRaised if the baseline's result requires
// none though the operator's does, or where no result does.
void choose_roots(Graph& op, const Tensors& got, Graph& baseline, const Tensors& want) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (!got[i].defined() || !got[i].requires_grad()) continue;
    if (!want[i].requires_grad())
      throw ContenderRaised(fmt::format("the baseline gives {} no gradient", output_name(i, got.size())));
    op.roots.push_back(got[i]);
    baseline.roots.push_back(want[i]);
  }
  if (op.roots.empty())
    throw ContenderRaised(
        "the operator's results require no gradient: it has no Autograd kernel, or detaches its results");
}

}  // namespace

BenchmarkPair backward_pair(const CallKey& key, const Bench& bench, ValueCache& values) {
  Graph op{Contender::of_operator(key), {}};
  Graph baseline{Contender::of_baseline(key, bench), {}};
  const Arguments arguments = materialize(key, values, {.contiguous = true, .take_snapshots = false});
  const std::vector<Leaf> leaves = leaves_of(arguments);
  {
    const c10::AutoGradMode with_derivatives(true);
    const Outcome got = op.contender.run(arguments.stack);
    const Outcome want = baseline.contender.run(arguments.stack);
    const c10::AutoGradMode without(false);
    demand_same_answer(key, got, want);
    choose_roots(op, got.values(), baseline, expected_values(want, got));
  }
  const Tensors cotangents = random_like(op.roots);
  Tensors all;
  for (const Leaf& leaf : leaves) all.push_back(leaf.tensor);
  const Tensors mine = op.gradients_at(all, cotangents);
  const Tensors theirs = baseline.gradients_at(all, cotangents);
  std::vector<Leaf> common;
  Tensors computed;
  std::vector<Compared> compared;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!mine[i].defined() || !theirs[i].defined()) continue;
    common.push_back(leaves[i]);
    computed.push_back(mine[i]);
    compared.push_back({fmt::format("the gradient at `{}`", leaves[i].name), mine[i], theirs[i]});
  }
  if (common.empty()) throw WrongAnswer("there is no input for which both sides have a gradient");
  if (const auto difference = rough_difference(compared, key.spec->accuracy_for(key.dtype)))
    throw WrongAnswer(*difference);
  BenchmarkPair pair;
  pair.bytes = bytes_moved(cotangents, computed);
  const auto both = std::make_shared<BackwardRounds>(std::move(op), std::move(baseline), key,
                                                     std::move(common), cotangents);
  pair.op = [both](int64_t calls) { return both->time_operator(calls); };
  pair.baseline = [both](int64_t calls) { return both->time_baseline(calls); };
  pair.rounds = {[] {}, [both] { both->renew(); }, [both] { both->check(); }};
  return pair;
}

}  // namespace opgate
