// run.threads: the result is the same with one and with many intra-op threads, and from many threads at
// once.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/sign.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <time.h>

#include <algorithm>
#include <array>
#include <exception>

#include "base/text.h"
#include "compare/comparison.h"
#include "compare/float_format.h"
#include "compare/widen.h"
#include "device/host_turns.h"
#include "inputs/larger_samples.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "process/concurrently.h"
#include "process/cpu_time.h"
#include "spec/spec.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate::run_threads {
namespace {

constexpr int kIntraOp = 4;
// Threads that call at once, and how often each does.
struct Callers {
  size_t threads, calls;
};
constexpr Callers kOnCpu{4, 8};
// They take turns at the functions of CUDA, and each of them begins every other time. A lock that both need,
// as allocators have one, may change whose turn it is.
constexpr Callers kOnSimulator{2, 8};
constexpr int64_t kElementsOnSimulator = int64_t{1} << 12;
// Tensors are enlarged step by step, as long as a call is short: of some operators, four times the elements
// are 64 times the work. at::parallel_for divides element-wise work from 32,768 elements on.
constexpr std::array<int64_t, 3> kElements{int64_t{1} << 14, int64_t{1} << 16, int64_t{1} << 18};
constexpr double kShortCall = 0.002;  // seconds of CPU time

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
  CallUnderTest* call = nullptr;
  MaterializeOptions options{.take_snapshots = false};
  Outcome alone;                     // what its call gives while no other call runs
  std::vector<Arguments> arguments;  // of each call
  std::vector<Outcome> outcomes;
  std::exception_ptr
      thrown;  // what is not an outcome: the device has failed, or does not simulate what the call needs
};

// Each caller has values of its own, so that a buffer which calls share shows in a result.
std::vector<Caller> make_callers(const std::vector<CallUnderTest*>& calls, Callers how_many) {
  std::vector<Caller> callers(how_many.threads);
  for (size_t i = 0; i < callers.size(); ++i) {
    Caller& caller = callers[i];
    caller.call = calls[i % calls.size()];
    const CallKey& key = caller.call->key();
    ValueCache& values = caller.call->cache().values;
    const auto call_alone = [&](uint64_t value_seed) {
      caller.options.value_seed = value_seed;
      caller.alone = observe(key, values, caller.options).outcome;
    };
    call_alone(i);
    if (!caller.alone.ok()) call_alone(0);  // the operator may refuse other values
    caller.outcomes.resize(how_many.calls);
    for (size_t call = 0; call < how_many.calls; ++call)
      caller.arguments.push_back(materialize(key, values, caller.options));
  }
  return callers;
}

void call_concurrently(std::vector<Caller>& callers) {
  const size_t threads = callers.size();
  run_concurrently(threads, callers.front().outcomes.size(), [&](size_t i, size_t call) {
    Caller& caller = callers[i];
    const HostTurns turns(static_cast<unsigned>(threads), static_cast<unsigned>((i + call) % threads));
    try {
      caller.outcomes[call] =
          invoke(caller.call->op(), caller.arguments[call].stack, caller.call->key().device);
    } catch (...) {  // goes on in the thread that has started this one
      caller.thrown = std::current_exception();
    }
    return true;
  });
  for (const Caller& caller : callers) {
    if (caller.thrown) std::rethrow_exception(caller.thrown);
  }
}

double largest_difference(const Outcome& one, const Outcome& other) {
  double largest = 0;
  const std::vector<at::Tensor> values = one.values(), others = other.values();
  for (size_t i = 0; i < std::min(values.size(), others.size()); ++i) {
    if (!values[i].defined() || values[i].sizes() != others[i].sizes() || values[i].numel() == 0) continue;
    largest = std::max(largest, largest_magnitude(widened(values[i]) - widened(others[i])).item<double>());
  }
  return largest;
}

// Without a reference it is unknown how far rounding goes: the solution of a large system of equations has
// few right digits. The results may differ by some times the change that they make where inputs are rounded
// to the next number.
bool is_as_far_as_rounding(CallUnderTest& under_test, const Outcome& got, const Outcome& want,
                           const MaterializeOptions& options) {
  constexpr double kRoundings = 64;
  Arguments arguments = materialize(under_test.key(), under_test.cache().values, options);
  for (const TensorInput& input : arguments.tensors) {
    if (!input.tensor.is_floating_point()) continue;
    const auto format = float_format(input.tensor.scalar_type());
    if (!format) continue;
    const at::Tensor turns = make_values({"uniform", {}}, stream_key("rounding of " + input.name),
                                         input.tensor.sizes(), c10::kDouble)
                                 .sign();
    input.tensor.copy_(widened(input.tensor) * (1 + turns * ulp_at(1, *format)));
  }
  const Outcome rounded = call_on(under_test.key(), arguments.stack);
  return rounded.ok() && largest_difference(got, want) <= kRoundings * largest_difference(rounded, want);
}

std::optional<Finding> differs(CallUnderTest& under_test, const Outcome& got, const Outcome& want,
                               std::string_view when, const MaterializeOptions& options = {}) {
  const Spec& spec = *under_test.key().spec;
  const bool bits = spec.accuracy->exact || spec.promised(Promise::thread_invariant);
  const std::string promised = fmt::format("the same {} with any number of threads",
                                           bits ? "bits" : "result, within the promised accuracy,");
  if (!got.ok())
    return Finding{promised, fmt::format("{} it raised: {}", when, first_line(got.raised->message))};
  auto finding = judge_same(under_test, got, want, bits, promised, options).finding;
  if (finding && spec.reference == nullptr && is_as_far_as_rounding(under_test, got, want, options))
    return std::nullopt;
  if (finding) finding->happened = fmt::format("{}: {}", when, finding->happened);
  return finding;
}

std::string shapes_text(CallUnderTest& under_test) {
  std::vector<std::string> shapes;
  for (const TensorInput& input : under_test.observed().arguments.tensors)
    shapes.push_back(fmt::format("`{}` {}", input.name, fmt::join(input.geometry.sizes, "x")));
  return fmt::format("{}", fmt::join(shapes, ", "));
}

Judgement judge_intra_op(CallUnderTest& under_test) {
  const Outcome one = with_threads(under_test, 1);
  const Outcome many = with_threads(under_test, kIntraOp);
  if (auto finding = differs(under_test, many, one, fmt::format("with {} intra-op threads", kIntraOp))) {
    finding->likely =
        "chunks overlap or leave a gap, threads share an accumulator, or the order of additions depends on "
        "the number of chunks";
    return Judgement::fail(*std::move(finding));
  }
  return Judgement::pass();
}

// Calls each of the calls in turn from several threads at once.
Judgement judge_callers(const std::vector<CallUnderTest*>& calls) {
  if (calls.front()->key().spec->promised(Promise::nondeterministic_seeded))
    return Judgement::pass();  // concurrent callers would share one generator
  const bool simulated = calls.front()->key().simulated;
  std::vector<Caller> callers = make_callers(calls, simulated ? kOnSimulator : kOnCpu);
  call_concurrently(callers);
  const std::string when = fmt::format("called from {} threads at once{}", callers.size(),
                                       calls.size() > 1 ? ", with tensors of several sizes" : "");
  for (const Caller& caller : callers) {
    for (const Outcome& outcome : caller.outcomes) {
      auto finding = differs(*caller.call, outcome, caller.alone, when, caller.options);
      if (!finding) continue;
      finding->likely =
          simulated
              ? "calls share what they set for their kernel, without a lock: a static buffer or counter, "
                "__constant__ memory (cudaMemcpyToSymbol), a limit of the kernel (cudaFuncSetAttribute); "
                "pass it as an argument of the kernel, or set it once, to the largest"
              : "calls share a static buffer, cache or counter without a lock";
      return Judgement::fail(*std::move(finding));
    }
  }
  return Judgement::pass();
}

// The larger samples of each step up to the first step in which the operator takes some of them and is not
// fast.
std::vector<Sample> samples_to_enlarge_to(const CallKey& key) {
  std::vector<Sample> samples;
  for (const int64_t elements : kElements) {
    std::vector<Sample> step = larger_samples(*key.spec, *key.sample, elements);
    if (step.empty()) break;
    // Without a reference, only the first: in it, equal sizes stay equal.
    if (key.spec->reference == nullptr) step.resize(1);
    samples = std::move(step);
    double slowest = 0;
    for (const Sample& sample : samples) {
      CallKey larger = key;
      larger.sample = &sample;
      ValueCache values;
      const Arguments arguments = materialize(larger, values, {.take_snapshots = false});
      const double begin = cpu_seconds();
      if (call_on(larger, arguments.stack).ok()) slowest = std::max(slowest, cpu_seconds() - begin);
    }
    if (slowest > kShortCall) break;
  }
  return samples;
}

// Threads share work, and calls meet, where there is enough to do: the same on the first of the larger
// samples that the operator takes.
Judgement judge_larger(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  for (const Sample& sample : samples_to_enlarge_to(key)) {
    CallKey larger_key = key;
    larger_key.sample = &sample;
    WorkerCache cache = under_test.cache().with_values_of_its_own();
    CallUnderTest larger(larger_key, cache);
    if (!larger.observed().outcome.ok()) continue;
    // A size that does not fit the others is the matter of error.raises, which asks with the operator's own
    // samples.
    if (key.spec->reference != nullptr && !larger.reference().ok()) continue;
    Judgement judgement = judge_intra_op(larger);
    if (!judgement.finding) judgement = judge_callers({&larger});
    if (!judgement.finding) judgement = judge_callers({&larger, &under_test});
    if (judgement.finding)
      judgement.finding->happened =
          fmt::format("with larger tensors ({}): {}", shapes_text(larger), judgement.finding->happened);
    return judgement;
  }
  return Judgement::pass();
}

// What an operator sets for each call depends on the sizes, so the other thread calls it with others: those
// of the first sample, or larger ones.
Judgement judge_on_simulator(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  std::vector<Sample> others{key.spec->samples.front()};
  if (key.sample == &key.spec->samples.front())
    others = larger_samples(*key.spec, *key.sample, kElementsOnSimulator);
  for (const Sample& sample : others) {
    CallKey other_key = key;
    other_key.sample = &sample;
    WorkerCache cache = under_test.cache().with_values_of_its_own();
    CallUnderTest other(other_key, cache);
    if (!other.observed().outcome.ok()) continue;
    if (key.spec->reference != nullptr && !other.reference().ok()) continue;
    return judge_callers({&under_test, &other});
  }
  return judge_callers({&under_test});
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  if (under_test.key().simulated) return judge_on_simulator(under_test);
  Judgement judgement = judge_intra_op(under_test);
  if (judgement.verdict == Verdict::pass) judgement = judge_callers({&under_test});
  const CallKey& key = under_test.key();
  if (judgement.verdict != Verdict::pass || key.sample != &key.spec->samples.front()) return judgement;
  return judge_larger(under_test);
}

OPGATE_REGISTER_CHECK(run_threads, {.name = "run.threads",
                                    .scope = {.variants = Scope::Variants::contiguous,
                                              .dtypes = Scope::Dtypes::first,
                                              .device = Scope::Device::cpu_or_simulated},
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::run_threads
