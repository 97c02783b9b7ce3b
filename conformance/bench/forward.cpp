#include "bench/benchmark_pair.h"
#include "bench/contender.h"
#include "bench/stopwatch.h"
#include "inputs/arguments.h"
#include "layouts/layout.h"

namespace opgate {
namespace {

constexpr MaterializeOptions kPlain{.contiguous = true, .take_snapshots = false};

std::vector<at::Tensor> inputs_of(const Arguments& arguments) {
  std::vector<at::Tensor> tensors;
  for (const TensorInput& input : arguments.tensors) tensors.push_back(input.tensor);
  return tensors;
}

// A tensor that the operator writes to, with a copy of its values before the call.
struct Written {
  at::Tensor tensor;
  at::Tensor before;
};

std::vector<Written> written_by(const CallKey& key, const Arguments& arguments) {
  std::vector<Written> all;
  for (const TensorInput& input : arguments.tensors) {
    if (is_mutable(*key.spec, input.position)) all.push_back({input.tensor, input.tensor.clone()});
  }
  return all;
}

TimedCalls timed(const Contender& contender, const CallKey& key, const torch::jit::Stack& arguments,
                 const std::vector<Written>& written) {
  return [=, device = key.device](int64_t calls) {
    double seconds = 0;
    contender.attempt([&] {
      for (const Written& argument : written) argument.tensor.copy_(argument.before);
      seconds = seconds_of(device, [&] { contender.run(arguments, calls); });
    });
    return seconds;
  };
}

}  // namespace

BenchmarkPair forward_pair(const CallKey& key, const Bench& bench, ValueCache& values) {
  const Contender op = Contender::of_operator(key);
  const Contender baseline = Contender::of_baseline(key, bench);
  BenchmarkPair pair;
  {
    // Each contender gets its own arguments, because it may write to them.
    const Arguments mine = materialize(key, values, kPlain);
    const Outcome got = op.run(mine.stack);
    const Outcome want = baseline.run(materialize(key, values, kPlain).stack);
    demand_same_answer(*key.spec, got, want);
    pair.bytes = bytes_of(inputs_of(mine)) + bytes_of(got.values());
  }
  const Arguments arguments = materialize(key, values, kPlain);
  const std::vector<Written> written = written_by(key, arguments);
  pair.op = timed(op, key, arguments.stack, written);
  pair.baseline = timed(baseline, key, arguments.stack, written);
  return pair;
}

BenchmarkPair benchmark_pair_of(const BenchCase& bench, ValueCache& values) {
  const CallKey key{bench.spec, &bench.bench->sample, bench.bench->dtype, bench.device,
                    std::string(kContiguous)};
  return bench.direction == Direction::forward ? forward_pair(key, *bench.bench, values)
                                               : backward_pair(key, *bench.bench, values);
}

}  // namespace opgate
