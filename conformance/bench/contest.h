// An operator and its baseline on the same tensors, ready to be timed.
#pragma once

#include <stdexcept>
#include <string>

#include "bench/bench_case.h"
#include "bench/measure.h"
#include "call/call_key.h"
#include "call/value_cache.h"

namespace opgate {

struct Contest {
  TimedCalls op;
  TimedCalls baseline;
  int64_t bytes = 0;  ///< that a call must move: of its inputs and its outputs
};

/// One of the sides raised where it should have computed.
struct SideRaised : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The sides do not compute the same thing.
struct WrongAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The call itself, boxed, through the dispatcher, without derivatives. Makes it once on each side: throws
/// SideRaised, or WrongAnswer where the results disagree. `key` names the bench's sample, contiguous. What
/// the operator writes to has the same values before each batch.
Contest forward_contest(const CallKey& key, const Bench& bench, ValueCache& values);

/// The derivative alone: the graph is made once, and asked for the gradients of all floating inputs that both
/// sides have one for, given the same random ones at the outputs. Throws as above, for the gradients too.
Contest backward_contest(const CallKey& key, const Bench& bench, ValueCache& values);

/// The one that the case asks for.
Contest contest_of(const BenchCase& bench, ValueCache& values);

}  // namespace opgate
