// run.race: neither the threads of a kernel nor operations of two streams access the same memory at once, and
// all threads of a block reach its barriers.
#include <fmt/format.h>

#include "device/simulator.h"
#include "inputs/element_at.h"
#include "inputs/larger_samples.h"
#include "judging/check.h"
#include "judging/output_judgement.h"

namespace opgate::run_race {
namespace {

// Some races show only where blocks or warps begin in one of their orders: a store after the release of a
// lock, where the thread that has released it first is looked at. So several orders are asked of calls that
// cost little: how many depends on the sizes of the arguments, and not on the machine, so that a verdict is
// the same everywhere.
constexpr unsigned kOrders = 8;
constexpr int64_t kElementsInAllOrders = int64_t{1} << 12;
constexpr int64_t kElementsInSomeOrders = int64_t{1} << 15;
// Small samples fit into one block, or one program of Triton, so that no two can race.
constexpr int64_t kElementsOfLarger = int64_t{1} << 12;

unsigned orders_of(CallUnderTest& under_test) {
  int64_t elements = 0;
  for (const TensorInput& input : under_test.observed().arguments.tensors) elements += input.tensor.numel();
  return elements <= kElementsInAllOrders ? kOrders : elements <= kElementsInSomeOrders ? kOrders / 4 : 1;
}

struct FoundInCalls {
  std::vector<simulator::Finding> findings;
  std::optional<std::string> element;  ///< of an argument, at the address of the first one
  std::optional<std::string> raised;
};

FoundInCalls found_in_call(CallUnderTest& under_test, unsigned order) {
  const BlockOrders orders(block_orders_of(under_test.key(), order));
  SimulatorTools tools("race,sync,stream");
  const Observation call = observe(under_test.key(), under_test.cache().values, {.take_snapshots = false});
  FoundInCalls found{.findings = tools.take(), .element = {}, .raised = {}};
  if (!found.findings.empty() && found.findings.front().space == "global")
    found.element = element_at(call.arguments, found.findings.front().address);
  if (!call.outcome.ok()) found.raised = call.outcome.raised->message;
  return found;
}

// Of one call in each order, until something is found.
FoundInCalls found_in_calls(CallUnderTest& under_test) {
  const unsigned last = orders_of(under_test);
  FoundInCalls found;
  for (unsigned order = 0; order < last && found.findings.empty() && !found.raised; ++order)
    found = found_in_call(under_test, order);
  return found;
}

Judgement judgement_of(const FoundInCalls& found, const std::string& where) {
  const simulator::Finding& first = found.findings.front();
  std::vector<std::string> detail = {"kernel: " + first.kernel, "at: " + text_of(first.place)};
  if (first.other) detail.push_back("and: " + text_of(*first.other));
  if (found.element) detail.push_back("memory: " + *found.element);
  if (first.count > 1) detail.push_back(fmt::format("{} times at the same two places", first.count));
  if (found.findings.size() > 1)
    detail.push_back(fmt::format("{} more of other places", found.findings.size() - 1));
  return Judgement::fail(
      {"whatever the order in which threads and streams run, their accesses to memory are ordered",
       where + first.message,
       "a barrier, a fence, an atomic access or an event between streams is missing, or threads have left "
       "before a barrier",
       std::move(detail),
       {}});
}

// The same on larger samples, of which the operator may refuse any.
Judgement judge_larger(CallUnderTest& under_test) {
  std::vector<Sample> samples =
      larger_samples(*under_test.key().spec, *under_test.key().sample, kElementsOfLarger);
  // Without a reference, only the first: in it, equal sizes stay equal.
  if (under_test.key().spec->reference == nullptr && samples.size() > 1) samples.resize(1);
  for (const Sample& sample : samples) {
    CallKey key = under_test.key();
    key.sample = &sample;
    WorkerCache cache = under_test.cache().with_values_of_its_own();
    CallUnderTest larger(key, cache);
    const FoundInCalls found = found_in_call(larger, 0);
    if (!found.findings.empty()) return judgement_of(found, sample.name + ": ");
  }
  return Judgement::pass();
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const FoundInCalls found = found_in_calls(under_test);
  if (!found.findings.empty()) return judgement_of(found, "");
  if (found.raised) return Judgement::owed("the call raised while it was watched: " + *found.raised);
  const CallKey& key = under_test.key();
  return key.dtype == key.spec->dtypes.at(key.device).front() ? judge_larger(under_test) : Judgement::pass();
}

OPGATE_REGISTER_CHECK(run_race,
                      {.name = "run.race",
                       .worker = Worker::native,
                       .scope = {.variants = Scope::Variants::contiguous, .device = Scope::Device::simulated},
                       .judge = &judge});

}  // namespace
}  // namespace opgate::run_race
