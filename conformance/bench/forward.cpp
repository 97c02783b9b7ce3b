#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "bench/benchmark_pair.h"
#include "bench/contender.h"
#include "bench/rounds.h"
#include "bench/stopwatch.h"
#include "inputs/arguments.h"
#include "layouts/layout.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr MaterializeOptions kPlain{.contiguous = true, .take_snapshots = false};

std::vector<at::Tensor> inputs_of(const Arguments& arguments) {
  std::vector<at::Tensor> tensors;
  for (const TensorInput& input : arguments.tensors) tensors.push_back(input.tensor);
  return tensors;
}

// The bytes of results that lie outside the inputs, and of which each element is written.
int64_t bytes_written(const std::vector<at::Tensor>& results, const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> anew = written_anew(results, inputs);
  std::erase_if(anew, [](const at::Tensor& result) { return !result.is_non_overlapping_and_dense(); });
  return bytes_of(anew);
}

// The two sides on the same arguments, which change from round to round.
class ForwardRounds {
 public:
  ForwardRounds(Contender op, Contender baseline, CallKey key, Arguments arguments)
      : op_(std::move(op)),
        baseline_(std::move(baseline)),
        key_(std::move(key)),
        arguments_(std::move(arguments)),
        changing_(changing_inputs()) {
    note_written();
  }

  double time_operator(int64_t calls) { return time(op_, calls, mine_); }
  double time_baseline(int64_t calls) { return time(baseline_, calls, theirs_); }

  void start() {
    start_thread_pool();
    threads_ = thread_count();
  }

  void renew() {
    reset_written();
    if (++round_ % kMoves == 0) move();
    changing_.change();
    note_written();
  }

  void check() {
    if (const size_t more = threads_left(); more > 0) {
      throw WrongAnswer(
          fmt::format("{} threads are running after the calls that were not there before the first round: "
                      "work that is left to them is not timed",
                      more));
    }
    if (key_.spec->promised(Promise::nondeterministic_seeded)) return;
    if (written_.empty()) {
      if (mine_.has_changed())
        throw WrongAnswer(
            "the results changed after the call had returned: work that is done later is not timed");
      in_words([&] { demand_same_answer(key_, mine_.outcome(), theirs_.outcome(), true); });
    }
    reset_written();
    changing_.change_one_element();
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
  std::vector<ChangingInput> changing_inputs() const {
    const std::vector<TensorSlot> slots = tensor_slots(*key_.spec, *key_.sample);
    std::vector<ChangingInput> inputs;
    for (size_t i = 0; i < slots.size(); ++i)
      inputs.push_back({arguments_.tensors.at(i).tensor, slots[i].described->domain});
    return inputs;
  }

  // How many threads more there are than before the first round, after some time for those that are ending.
  size_t threads_left() const {
    constexpr int kLooks = 20;
    for (int look = 0; look < kLooks; ++look) {
      if (thread_count() <= threads_) return 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const size_t now = thread_count();
    return now > threads_ ? now - threads_ : 0;
  }

  double time(const Contender& contender, int64_t calls, RoundResult& result) {
    result = {};  // frees the results of the round before
    double seconds = 0;
    torch::jit::Stack returned;
    contender.attempt([&] {
      reset_written();
      seconds = seconds_of(key_.device, [&] { returned = contender.run(arguments_.stack, calls); });
    });
    if (written_.empty()) result = RoundResult(returned);
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
    changing_ = ChangingInputs(changing_inputs());
  }

  // One more call of each side, which is not timed, after one element has changed: a result may be kept for
  // some of the values. Batches have different numbers of calls, so what an operator writes to its arguments
  // cannot be compared after them.
  void compare_one_call() {
    const Outcome got = result_of(op_);
    const Outcome want = result_of(baseline_);
    in_words([&] { demand_same_answer(key_, got, want, true); });
  }

  Outcome result_of(const Contender& contender) {
    reset_written();
    const Outcome made = contender.run(arguments_.stack);
    Outcome kept = RoundResult(made.results).outcome();
    const std::vector<at::Tensor> returned = made.returned(), copies = kept.returned();
    for (const at::Tensor& tensor : made.written) {
      // A written argument that is returned as well stays one tensor: what is unspecified of one is so of the
      // other.
      const auto same =
          std::ranges::find_if(returned, [&](const at::Tensor& r) { return r.is_same(tensor); });
      kept.written.push_back(same == returned.end() ? tensor.clone() : copies[same - returned.begin()]);
    }
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
    demand_same_answer(key, got, want);
    // What an operator writes in place moves both ways, and is counted once: it may write a part of it.
    pair.bytes = got.written.empty()
                     ? bytes_moved(inputs_of(mine), got.returned())
                     : bytes_of(inputs_of(mine)) + bytes_of(written_anew(got.values(), inputs_of(mine)));
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
