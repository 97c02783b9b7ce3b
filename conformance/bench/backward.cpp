#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "bench/agreement.h"
#include "bench/contest.h"
#include "bench/side.h"
#include "bench/stopwatch.h"
#include "call/arguments.h"
#include "call/gradients.h"
#include "checks/outputs.h"

namespace opgate {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr uint64_t kSeed = 20160816;

// A floating argument, by which results are differentiated.
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
  auto generator = at::make_generator<at::CPUGeneratorImpl>(kSeed);
  for (const at::Tensor& output : outputs) {
    const at::Tensor random =
        at::empty(output.sizes(), output.options().device(c10::kCPU).requires_grad(false));
    all.push_back(random.uniform_(-1, 1, generator).to(output.device()));
  }
  return all;
}

// A side whose forward call has been made, with derivatives.
struct Graph {
  Side side;
  Tensors roots;  // results that have a derivative

  Tensors gradients_at(const Tensors& leaves, const Tensors& cotangents) const {
    Tensors found;
    side.attempt([&] { found = gradients(roots, leaves, cotangents); });
    return found;
  }
};

TimedCalls timed(const Graph& graph, const CallKey& key, const Tensors& leaves, const Tensors& cotangents) {
  return [=, device = key.device](int64_t calls) {
    double seconds = 0;
    graph.side.attempt([&] {
      seconds = seconds_of(device, [&] {
        for (int64_t call = 0; call < calls; ++call) gradients(graph.roots, leaves, cotangents);
      });
    });
    return seconds;
  };
}

// The results of both sides that have a derivative; they must be the same ones.
void choose_roots(Graph& op, const Tensors& got, Graph& baseline, const Tensors& want) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (!got[i].defined() || !got[i].requires_grad()) continue;
    if (!want[i].requires_grad())
      throw SideRaised(fmt::format("the baseline gives {} no derivative", output_name(i, got.size())));
    op.roots.push_back(got[i]);
    baseline.roots.push_back(want[i]);
  }
  if (op.roots.empty())
    throw SideRaised(
        "the operator's results have no derivative: it has no Autograd kernel, or cuts the graph");
}

}  // namespace

Contest backward_contest(const CallKey& key, const Bench& bench, ValueCache& values) {
  Graph op{Side::of_operator(key), {}};
  Graph baseline{Side::of_baseline(key, bench), {}};
  const Arguments arguments = materialise(key, values, {.contiguous = true, .photographed = false});
  const std::vector<Leaf> leaves = leaves_of(arguments);
  {
    const c10::AutoGradMode with_derivatives(true);
    const Outcome got = op.side.run(arguments.stack);
    const Outcome want = baseline.side.run(arguments.stack);
    const c10::AutoGradMode without(false);
    demand_same_answer(*key.spec, got, want);
    choose_roots(op, got.values(), baseline, expected_values(want, got));
  }
  const Tensors cotangents = random_like(op.roots);
  Tensors all;
  for (const Leaf& leaf : leaves) all.push_back(leaf.tensor);
  const Tensors mine = op.gradients_at(all, cotangents);
  const Tensors theirs = baseline.gradients_at(all, cotangents);
  Tensors common;
  Tensors computed;
  std::vector<Compared> compared;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!mine[i].defined() || !theirs[i].defined()) continue;
    common.push_back(leaves[i].tensor);
    computed.push_back(mine[i]);
    compared.push_back({fmt::format("the gradient at `{}`", leaves[i].name), mine[i], theirs[i]});
  }
  if (common.empty()) throw WrongAnswer("there is no input at which both sides have a gradient");
  if (const auto difference = rough_difference(compared, *key.spec->accuracy)) throw WrongAnswer(*difference);
  return {timed(op, key, common, cotangents), timed(baseline, key, common, cotangents),
          bytes_of(cotangents) + bytes_of(computed)};
}

}  // namespace opgate
