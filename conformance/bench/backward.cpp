#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "bench/agreement.h"
#include "bench/contest.h"
#include "bench/gradients.h"
#include "bench/side.h"
#include "bench/stopwatch.h"
#include "call/arguments.h"
#include "checks/outputs.h"

namespace opgate {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr uint64_t kSeed = 20160816;

// The floating arguments, which require gradients from now on.
Tensors leaves_of(const Arguments& arguments) {
  Tensors leaves;
  for (const TensorInput& input : arguments.tensors) {
    if (input.tensor.is_floating_point()) leaves.push_back(input.tensor.requires_grad_());
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
  const Tensors all_leaves = leaves_of(arguments);
  {
    const c10::AutoGradMode with_derivatives(true);
    const Outcome got = op.side.run(arguments.stack);
    const Outcome want = baseline.side.run(arguments.stack);
    const c10::AutoGradMode without(false);
    const Tensors expected = expected_values(want, got);
    if (const auto difference =
            rough_disagreement(got.values(), expected, *key.spec->accuracy, key.spec->unspecified))
      throw WrongAnswer(*difference);
    choose_roots(op, got.values(), baseline, expected);
  }
  const Tensors cotangents = random_like(op.roots);
  const Tensors all_mine = op.gradients_at(all_leaves, cotangents);
  const Tensors all_theirs = baseline.gradients_at(all_leaves, cotangents);
  Tensors leaves;
  Tensors mine;
  Tensors theirs;
  for (size_t i = 0; i < all_leaves.size(); ++i) {
    if (!all_mine[i].defined() || !all_theirs[i].defined()) continue;
    leaves.push_back(all_leaves[i]);
    mine.push_back(all_mine[i]);
    theirs.push_back(all_theirs[i]);
  }
  if (leaves.empty()) throw WrongAnswer("there is no input that both sides give a gradient");
  if (const auto difference = rough_disagreement(mine, theirs, *key.spec->accuracy, {}))
    throw WrongAnswer(fmt::format("gradients: {}", *difference));
  return {timed(op, key, leaves, cotangents), timed(baseline, key, leaves, cotangents),
          bytes_of(cotangents) + bytes_of(mine)};
}

}  // namespace opgate
