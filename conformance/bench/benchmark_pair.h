// An operator and its baseline on the same tensors, ready to be timed.
#pragma once

#include <stdexcept>

#include "bench/bench_case.h"
#include "bench/measure.h"
#include "bench/rounds.h"
#include "inputs/call_key.h"
#include "inputs/value_cache.h"

namespace opgate {

struct BenchmarkPair {
  TimedCalls op;
  TimedCalls baseline;
  int64_t bytes = 0;  ///< that a call must move: the size of its inputs and outputs; 0 if it writes none
  int64_t written_bytes = 0;  ///< the part of `bytes` in outputs that share no memory with inputs
  Rounds rounds = {};         ///< gives both sides other inputs for each round, and compares their results
};

/// The operator or its baseline raised instead of computing a result.
struct ContenderRaised : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The operator and its baseline do not compute the same thing.
struct WrongAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Times the call itself: boxed, through the dispatcher, without gradients. First calls the operator and the
/// baseline once each: throws ContenderRaised if one raises, and WrongAnswer where the results disagree.
/// `key` names the bench's sample, contiguous. Tensors that the operator writes to are reset before each
/// batch. The inputs change from round to round, in contents and sometimes in address, and the results of
/// each round are compared; those of operators that draw random numbers are not.
BenchmarkPair forward_pair(const CallKey& key, const Bench& bench, ValueCache& values);

/// Times only the backward pass. The graph is made once; both sides get the same random cotangents
/// (incoming gradients), and compute the gradients of the floating-point inputs for which both have one.
/// Throws as forward_pair(), for results and for gradients.
BenchmarkPair backward_pair(const CallKey& key, const Bench& bench, ValueCache& values);

/// The pair for the direction of the case. Throws as the functions above, and SpecError.
BenchmarkPair benchmark_pair_of(const BenchCase& bench, ValueCache& values);

}  // namespace opgate
