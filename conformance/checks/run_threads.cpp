// run.threads: the same result with one and with many intra-op threads, and from many threads at once.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <array>
#include <barrier>
#include <thread>

#include "checks/check.h"
#include "checks/outputs.h"

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

Outcome with_threads(Evidence& evidence, int count) {
  const IntraOpThreads threads(count);
  return observe(evidence.key(), evidence.bench().values, {.photographed = false}).outcome;
}

struct Caller {
  Making making{.photographed = false};
  Outcome alone;  // what its call gives with nobody else about
  std::array<Arguments, kCallsEach> arguments;
  std::array<Outcome, kCallsEach> outcomes;
};

// Each with values of its own: what the calls share must hold the same for all, or be found out.
std::vector<Caller> make_callers(Evidence& evidence) {
  std::vector<Caller> callers(kCallers);
  for (size_t i = 0; i < callers.size(); ++i) {
    Caller& caller = callers[i];
    const auto call_alone = [&](uint64_t stream) {
      caller.making.stream = stream;
      caller.alone = observe(evidence.key(), evidence.bench().values, caller.making).outcome;
    };
    call_alone(i);
    if (!caller.alone.ok()) call_alone(0);  // other values are not always good ones
    for (Arguments& arguments : caller.arguments)
      arguments = materialise(evidence.key(), evidence.bench().values, caller.making);
  }
  return callers;
}

// All of them calling at the same time.
void call_at_once(Evidence& evidence, std::vector<Caller>& callers) {
  std::barrier start(static_cast<std::ptrdiff_t>(callers.size()));
  std::vector<std::thread> threads;
  for (Caller& caller : callers) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (size_t i = 0; i < kCallsEach; ++i)
        caller.outcomes[i] = invoke(evidence.op(), caller.arguments[i].stack, evidence.key().device);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::optional<Finding> differs(Evidence& evidence, const Outcome& got, const Outcome& want,
                               std::string_view when, const Making& making = {}) {
  const Spec& spec = *evidence.key().spec;
  const bool bits = spec.accuracy->exact || spec.promised(Promise::thread_invariant);
  const std::string promised = fmt::format("the same {} with any number of threads",
                                           bits ? "bits" : "result, within what is promised,");
  if (!got.ok()) return Finding{promised, fmt::format("{} it raised: {}", when, got.raised->message), "", {}};
  auto finding = judge_same(evidence, got, want, bits, promised, making).finding;
  if (finding) finding->happened = fmt::format("{}: {}", when, finding->happened);
  return finding;
}

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  const Outcome one = with_threads(evidence, 1);
  const Outcome many = with_threads(evidence, kIntraOp);
  if (auto finding = differs(evidence, many, one, fmt::format("with {} intra-op threads", kIntraOp))) {
    finding->likely =
        "chunks that overlap or leave a gap, a shared accumulator, an order of additions that depends on the "
        "number of chunks";
    return Judgement::fail(*std::move(finding));
  }
  if (evidence.key().spec->promised(Promise::draws_random))
    return Judgement::pass();  // callers would share one generator
  std::vector<Caller> callers = make_callers(evidence);
  call_at_once(evidence, callers);
  for (const Caller& caller : callers) {
    for (const Outcome& outcome : caller.outcomes) {
      auto finding = differs(evidence, outcome, caller.alone,
                             fmt::format("called from {} threads at once", kCallers), caller.making);
      if (!finding) continue;
      finding->likely = "a static buffer, cache or counter that calls share without a lock";
      return Judgement::fail(*std::move(finding));
    }
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    run_threads,
    {.name = "run.threads",
     .explanation =
         {.promise = "The same result with 1 and many intra-op threads, and from many threads at once.",
          .why = "Servers call operators from many threads, data loaders with one intra-op thread, notebooks "
                 "with all cores. A static workspace works until the first two calls meet.",
          .fix = "Keep no state between calls that is not const. Divide work with at::parallel_for, each "
                 "chunk writing its own part of the result. Promise thread_invariant only where sums are "
                 "independent of chunks.",
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
