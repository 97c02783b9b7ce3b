// run.sequence: a result does not depend on the calls before it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "base/dtypes.h"
#include "judging/calls/calls_of_new_sizes.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/spec.h"
#include "values/counter.h"

namespace opgate::run_sequence {
namespace {

constexpr auto kPromised = "each call gives what the reference gives, whatever was called before";
constexpr size_t kCalls = 48;
constexpr size_t kMostSamples = 4;
constexpr size_t kMostDtypes = 3;

// One sample in one dtype. Its tensors stay where they are, and get other values before each call.
class RepeatedCall {
 public:
  RepeatedCall(const CallKey& key, WorkerCache& cache)
      : key_(key),
        under_test_(key, cache),
        arguments_(materialize(key, cache.values, {.take_snapshots = false})),
        values_{materialize(key, cache.values, {.take_snapshots = false}),
                materialize(key, cache.values, options(1))} {}

  // Makes the call on one of two sets of values.
  Judgement call(size_t set) {
    if (changes_metadata()) arguments_ = materialize(key_, under_test_.cache().values, options(set));
    for (size_t i = 0; i < arguments_.tensors.size(); ++i)
      arguments_.tensors[i].tensor.copy_(values_[set].tensors[i].tensor);
    const Outcome outcome = call_on(key_, arguments_.stack);
    if (outcome.ok()) return judge_near_reference(under_test_, outcome, kPromised, options(set));
    return Judgement::fail({kPromised, "raised: " + outcome.raised->message});
  }

  // How many sets of values the operator and its reference take: 0, 1 or 2.
  size_t sets() {
    if (!under_test_.observed().outcome.ok() || !under_test_.reference().ok()) return 0;
    const bool takes_others = under_test_.reference(options(1)).ok() &&
                              observe(key_, under_test_.cache().values, options(1)).outcome.ok();
    return takes_others ? 2 : 1;
  }

  // Whether the call is wrong by itself, too, on tensors of its own.
  bool is_wrong_alone(size_t set) {
    const Outcome alone = observe(key_, under_test_.cache().values, options(set)).outcome;
    return alone.ok() &&
           judge_near_reference(under_test_, alone, kPromised, options(set)).verdict != Verdict::pass;
  }

  std::string text(size_t set) const {
    return fmt::format("sample {} in {}{}", key_.sample->name, dtype_name(key_.dtype),
                       set == 0 ? "" : " with other values in the same memory");
  }

 private:
  // The reference of the first set of values is that of the case itself, and is computed once.
  static MaterializeOptions options(size_t set) { return {.value_seed = set, .take_snapshots = false}; }

  // Whether a call may change the sizes of an argument, or has done so, which effect.mutation reports.
  bool changes_metadata() const {
    return std::ranges::any_of(arguments_.tensors, [&](const TensorInput& input) {
      return may_change_metadata(*key_.spec, input) || input.tensor.sizes() != input.geometry.sizes;
    });
  }

  CallKey key_;
  CallUnderTest under_test_;
  Arguments arguments_;
  std::array<Arguments, 2> values_;
};

std::deque<RepeatedCall> repeated_calls(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const Dtypes& dtypes = key.spec->dtypes.at(key.device);
  std::deque<RepeatedCall> calls;
  for (size_t s = 0; s < std::min(kMostSamples, key.spec->samples.size()); ++s) {
    for (size_t d = 0; d < std::min(kMostDtypes, dtypes.size()); ++d) {
      calls.emplace_back(
          CallKey{key.spec, &key.spec->samples[s], dtypes[d], key.device, std::string(kContiguous)},
          under_test.cache());
    }
  }
  return calls;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  if (auto of_new_sizes = judge_calls_of_new_sizes(under_test, kPromised)) return *std::move(of_new_sizes);
  std::deque<RepeatedCall> calls = repeated_calls(under_test);
  std::vector<std::pair<RepeatedCall*, size_t>> takes;  // a call, and the number of a set of values
  for (RepeatedCall& call : calls) {
    for (size_t set = 0, sets = call.sets(); set < sets; ++set) takes.emplace_back(&call, set);
  }
  if (takes.empty()) return Judgement::pass();  // value.reference reports what the operator refuses
  const uint64_t stream = stream_key(under_test.key().spec->name + "/run.sequence");
  std::string before;
  for (size_t i = 0; i < kCalls; ++i) {
    const auto& [call, set] = takes[bits_at(stream, i) % takes.size()];
    Judgement judgement = call->call(set);
    if (judgement.verdict != Verdict::pass) {
      if (!judgement.finding) return judgement;
      judgement.finding->happened = fmt::format("call {} of a sequence, {}{}: {}", i + 1, call->text(set),
                                                before, judgement.finding->happened);
      judgement.finding->likely =
          "something is kept from an earlier call: a result by the address or the shape of its input, a "
          "buffer that is not filled again, a counter";
      judgement.finding->fault.kind = fault::kKept;
      if (call->is_wrong_alone(set)) {
        judgement.finding->likely = "the call is wrong by itself, too";
        judgement.finding->fault.kind = fault::kValues;
      }
      return judgement;
    }
    before = ", after " + call->text(set);
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(run_sequence, {.name = "run.sequence",
                                     .scope = {.variants = Scope::Variants::contiguous,
                                               .dtypes = Scope::Dtypes::first,
                                               .first_sample = true,
                                               .reference = true},
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::run_sequence
