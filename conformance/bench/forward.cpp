#include "bench/contest.h"
#include "bench/side.h"
#include "bench/stopwatch.h"
#include "call/arguments.h"
#include "layouts/layout.h"

namespace opgate {
namespace {

constexpr Making kPlain{.contiguous = true, .photographed = false};

std::vector<at::Tensor> inputs_of(const Arguments& arguments) {
  std::vector<at::Tensor> tensors;
  for (const TensorInput& input : arguments.tensors) tensors.push_back(input.tensor);
  return tensors;
}

// A tensor that the operator writes to, and its values before.
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

TimedCalls timed(const Side& side, const CallKey& key, const torch::jit::Stack& arguments,
                 const std::vector<Written>& written) {
  return [=, device = key.device](int64_t calls) {
    double seconds = 0;
    side.attempt([&] {
      for (const Written& argument : written) argument.tensor.copy_(argument.before);
      seconds = seconds_of(device, [&] { side.run(arguments, calls); });
    });
    return seconds;
  };
}

}  // namespace

Contest forward_contest(const CallKey& key, const Bench& bench, ValueCache& values) {
  const Side op = Side::of_operator(key);
  const Side baseline = Side::of_baseline(key, bench);
  Contest contest;
  {
    // Each side on arguments of its own: it may write to them.
    const Arguments mine = materialise(key, values, kPlain);
    const Outcome got = op.run(mine.stack);
    const Outcome want = baseline.run(materialise(key, values, kPlain).stack);
    demand_same_answer(*key.spec, got, want);
    contest.bytes = bytes_of(inputs_of(mine)) + bytes_of(got.values());
  }
  const Arguments arguments = materialise(key, values, kPlain);
  const std::vector<Written> written = written_by(key, arguments);
  contest.op = timed(op, key, arguments.stack, written);
  contest.baseline = timed(baseline, key, arguments.stack, written);
  return contest;
}

Contest contest_of(const BenchCase& bench, ValueCache& values) {
  const CallKey key{bench.spec, &bench.bench->sample, bench.bench->dtype, bench.device,
                    std::string(kContiguous)};
  return bench.direction == Direction::forward ? forward_contest(key, *bench.bench, values)
                                               : backward_contest(key, *bench.bench, values);
}

}  // namespace opgate
