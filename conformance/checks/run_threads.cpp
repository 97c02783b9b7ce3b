// run.threads: the result is the same with one and with many intra-op threads, and from many threads at
// once.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <array>

#include "judging/check.h"
#include "judging/output_judgement.h"
#include "process/concurrently.h"

namespace opgate::run_threads {
namespace {

constexpr int kIntraOp = 4;
constexpr int kCallers = 4;
constexpr size_t kCallsEach = 4;

class IntraOpThreads {
 public:
  explicit IntraOpThreads(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
  ~IntraOpThreads() { at::set_num_threads(before_); }
  IntraOpThreads(const IntraOpThreads&) = delete;
  IntraOpThreads& operator=(const IntraOpThreads&) = delete;

 private:
  int before_;
};

Outcome with_threads(CallUnderTest& under_test, int count) {
  const IntraOpThreads threads(count);
  return observe(under_test.key(), under_test.cache().values, {.take_snapshots = false}).outcome;
}

struct Caller {
  MaterializeOptions options{.take_snapshots = false};
  Outcome alone;  // what its call gives while no other call runs
  std::array<Arguments, kCallsEach> arguments;
  std::array<Outcome, kCallsEach> outcomes;
};

// Each caller has values of its own, so that a buffer which calls share shows in a result.
std::vector<Caller> make_callers(CallUnderTest& under_test) {
  std::vector<Caller> callers(kCallers);
  for (size_t i = 0; i < callers.size(); ++i) {
    Caller& caller = callers[i];
    const auto call_alone = [&](uint64_t value_seed) {
      caller.options.value_seed = value_seed;
      caller.alone = observe(under_test.key(), under_test.cache().values, caller.options).outcome;
    };
    call_alone(i);
    if (!caller.alone.ok()) call_alone(0);  // the operator may refuse other values
    for (Arguments& arguments : caller.arguments)
      arguments = materialize(under_test.key(), under_test.cache().values, caller.options);
  }
  return callers;
}

void call_concurrently(CallUnderTest& under_test, std::vector<Caller>& callers) {
  run_concurrently(callers.size(), kCallsEach, [&](size_t caller, size_t call) {
    callers[caller].outcomes[call] =
        invoke(under_test.op(), callers[caller].arguments[call].stack, under_test.key().device);
    return true;
  });
}

std::optional<Finding> differs(CallUnderTest& under_test, const Outcome& got, const Outcome& want,
                               std::string_view when, const MaterializeOptions& options = {}) {
  const Spec& spec = *under_test.key().spec;
  const bool bits = spec.accuracy->exact || spec.promised(Promise::thread_invariant);
  const std::string promised = fmt::format("the same {} with any number of threads",
                                           bits ? "bits" : "result, within the promised accuracy,");
  if (!got.ok()) return Finding{promised, fmt::format("{} it raised: {}", when, got.raised->message), "", {}};
  auto finding = judge_same(under_test, got, want, bits, promised, options).finding;
  if (finding) finding->happened = fmt::format("{}: {}", when, finding->happened);
  return finding;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Outcome one = with_threads(under_test, 1);
  const Outcome many = with_threads(under_test, kIntraOp);
  if (auto finding = differs(under_test, many, one, fmt::format("with {} intra-op threads", kIntraOp))) {
    finding->likely =
        "chunks overlap or leave a gap, threads share an accumulator, or the order of additions depends on "
        "the number of chunks";
    return Judgement::fail(*std::move(finding));
  }
  if (under_test.key().spec->promised(Promise::nondeterministic_seeded))
    return Judgement::pass();  // concurrent callers would share one generator
  std::vector<Caller> callers = make_callers(under_test);
  call_concurrently(under_test, callers);
  for (const Caller& caller : callers) {
    for (const Outcome& outcome : caller.outcomes) {
      auto finding = differs(under_test, outcome, caller.alone,
                             fmt::format("called from {} threads at once", kCallers), caller.options);
      if (!finding) continue;
      finding->likely = "calls share a static buffer, cache or counter without a lock";
      return Judgement::fail(*std::move(finding));
    }
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    run_threads,
    {.name = "run.threads",
     .explanation =
         {.promise = "The result is the same with 1 and with many intra-op threads, and from many threads at "
                     "once.",
          .why = "Servers call operators from many threads, data loaders with one intra-op thread, notebooks "
                 "with all cores. A static workspace works until two calls overlap for the first time.",
          .fix = "Keep no state between calls that is not const. Divide work with at::parallel_for, and let "
                 "each chunk write its own part of the result. Promise thread_invariant only where sums do "
                 "not depend on the chunks.",
          .example =
              "operators with a static scratch tensor; reductions per thread that forget a partial sum.",
          .wrong = R"(static std::array<int64_t, 256> counts;  // one for all threads that call
counts.fill(0);
for (int64_t i = 0; i < image.numel(); ++i) ++counts[pixels[i]];)",
          .right = R"(std::array<int64_t, 256> counts{};  // this call's
for (int64_t i = 0; i < image.numel(); ++i) ++counts[pixels[i]];)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .dtypes = Scope::Dtypes::first, .device = c10::kCPU},
     .judge = &judge});

}  // namespace
}  // namespace opgate::run_threads
