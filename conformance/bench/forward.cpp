#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bench/benchmark_pair.h"
#include "bench/contender.h"
#include "bench/rounds.h"
#include "bench/stopwatch.h"
#include "inputs/arguments.h"
#include "layouts/layout.h"
#include "values/counter.h"

namespace opgate {
namespace {

constexpr MaterializeOptions kPlain{.contiguous = true, .take_snapshots = false};

std::vector<at::Tensor> inputs_of(const Arguments& arguments) {
  std::vector<at::Tensor> tensors;
  for (const TensorInput& input : arguments.tensors) tensors.push_back(input.tensor);
  return tensors;
}

// The bytes of results that lie outside the inputs.
int64_t bytes_written(const std::vector<at::Tensor>& results, const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> fresh;
  for (const at::Tensor& result : results) {
    if (!result.defined() || !result.has_storage()) continue;
    const bool shared = std::ranges::any_of(inputs, [&](const at::Tensor& input) {
      return input.defined() && input.storage().is_alias_of(result.storage());
    });
    if (!shared && result.is_non_overlapping_and_dense()) fresh.push_back(result);
  }
  return bytes_of(fresh);
}

// The two sides on the same arguments, which change from round to round.
class ForwardRounds {
 public:
  ForwardRounds(Contender op, Contender baseline, CallKey key, Arguments arguments)
      : op_(std::move(op)),
        baseline_(std::move(baseline)),
        key_(std::move(key)),
        arguments_(std::move(arguments)),
        changing_(inputs_of(arguments_)) {
    note_written();
  }

  double time_operator(int64_t calls) { return time(op_, calls, mine_); }
  double time_baseline(int64_t calls) { return time(baseline_, calls, theirs_); }

  void start() { threads_ = thread_count(); }

  void renew() {
    reset_written();
    if (++round_ % kMoves == 0) move();
    if (elements() <= kGenerated) {
      generate();
    } else {
      changing_.change();
    }
    note_written();
  }

  void check() {
    if (const size_t now = thread_count(); now > threads_) {
      throw WrongAnswer(
          fmt::format("{} threads are running after the calls that were not there before the first round: "
                      "work that is left to them is not timed",
                      now - threads_));
    }
    if (key_.spec->promised(Promise::nondeterministic_seeded)) return;
    if (written_.empty()) {
      if (mine_.has_changed())
        throw WrongAnswer(
            "the results changed after the call had returned: work that is done later is not timed");
      in_words([&] { demand_same_answer(*key_.spec, mine_.outcome(), theirs_.outcome()); });
    }
    reset_written();
    exchange_one_element();
    note_written();
    compare_one_call();
  }

 private:
  // A tensor that the operator writes to, with a copy of its values before the call.
  struct Written {
    at::Tensor tensor;
    at::Tensor before;
  };

  static constexpr size_t kMoves = 4;  // every so many rounds, the inputs get other addresses
  // Inputs of up to so many elements get new values of their domains in each round. Larger ones are only rolled, because
  // generating them would take longer than timing the calls.
  static constexpr int64_t kGenerated = int64_t{1} << 16;

  int64_t elements() const {
    int64_t count = 0;
    for (const TensorInput& input : arguments_.tensors) count += input.tensor.numel();
    return count;
  }

  void generate() {
    ValueCache of_this_round;
    MaterializeOptions options = kPlain;
    options.value_seed = round_;
    const Arguments other = materialize(key_, of_this_round, options);
    for (size_t i = 0; i < arguments_.tensors.size(); ++i) {
      const at::Tensor& tensor = arguments_.tensors[i].tensor;
      if (tensor.defined()) tensor.copy_(other.tensors[i].tensor);
    }
  }

  double time(const Contender& contender, int64_t calls, RoundResult& result) {
    result = {};  // frees the results of the round before
    double seconds = 0;
    contender.attempt([&] {
      reset_written();
      torch::jit::Stack returned;
      seconds = seconds_of(key_.device, [&] { returned = contender.run(arguments_.stack, calls); });
      if (written_.empty()) result = RoundResult(std::move(returned));
    });
    return seconds;
  }

  void note_written() {
    written_.clear();
    for (const TensorInput& input : arguments_.tensors) {
      if (is_mutable(*key_.spec, input.position)) written_.push_back({input.tensor, input.tensor.clone()});
    }
  }

  void reset_written() {
    for (const Written& argument : written_) argument.tensor.copy_(argument.before);
  }

  void move() {
    for (TensorInput& input : arguments_.tensors) {
      const at::Tensor elsewhere = input.tensor.clone();
      arguments_.replace(input, elsewhere);
      input.tensor = elsewhere;
    }
    changing_ = ChangingInputs(inputs_of(arguments_));
  }

  // A result may be kept for values of which only some are looked at.
  void exchange_one_element() {
    std::vector<at::Tensor> floating;
    for (const TensorInput& input : arguments_.tensors) {
      if (input.tensor.defined() && input.tensor.is_floating_point() && input.tensor.numel() > 1)
        floating.push_back(input.tensor.view(-1));
    }
    if (floating.empty()) return;
    const at::Tensor& values = floating[round_ % floating.size()];
    const auto count = static_cast<uint64_t>(values.numel());
    const uint64_t to = bits_at(round_, 0) % count;
    const uint64_t from = (to + 1 + bits_at(round_, 1) % (count - 1)) % count;
    values[static_cast<int64_t>(to)].copy_(values[static_cast<int64_t>(from)]);
  }

  // One more call of each side, which is not timed: batches have different numbers of calls, so what an operator writes
  // to its arguments cannot be compared after them.
  void compare_one_call() {
    const Outcome got = result_of(op_);
    const Outcome want = result_of(baseline_);
    in_words([&] { demand_same_answer(*key_.spec, got, want); });
  }

  Outcome result_of(const Contender& contender) {
    reset_written();
    Outcome made = contender.run(arguments_.stack);
    Outcome kept = RoundResult(std::move(made.results)).outcome();
    for (const at::Tensor& tensor : made.written) kept.written.push_back(tensor.clone());
    reset_written();
    return kept;
  }

  template <class Compare>
  void in_words(const Compare& compare) const {
    try {
      compare();
    } catch (const WrongAnswer& error) {
      throw WrongAnswer(fmt::format("in round {}, on other values than before: {}", round_, error.what()));
    }
  }

  Contender op_, baseline_;
  CallKey key_;
  Arguments arguments_;
  ChangingInputs changing_;
  std::vector<Written> written_;
  RoundResult mine_, theirs_;
  size_t round_ = 0;
  size_t threads_ = 0;
};

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
    if (key.spec->unspecified.empty()) pair.written_bytes = bytes_written(got.returned(), inputs_of(mine));
  }
  const auto both = std::make_shared<ForwardRounds>(op, baseline, key, materialize(key, values, kPlain));
  pair.op = [both](int64_t calls) { return both->time_operator(calls); };
  pair.baseline = [both](int64_t calls) { return both->time_baseline(calls); };
  pair.rounds = {[both] { both->start(); }, [both] { both->renew(); }, [both] { both->check(); }};
  return pair;
}

BenchmarkPair benchmark_pair_of(const BenchCase& bench, ValueCache& values) {
  const CallKey key{bench.spec, &bench.bench->sample, bench.bench->dtype, bench.device,
                    std::string(kContiguous)};
  return bench.direction == Direction::forward ? forward_pair(key, *bench.bench, values)
                                               : backward_pair(key, *bench.bench, values);
}

}  // namespace opgate
