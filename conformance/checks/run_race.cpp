// run.race: neither the threads of a kernel nor operations of two streams access the same memory at once, all
// threads of a block reach its barriers, and the results are the same in each order of blocks and warps.
#include <fmt/format.h>

#include "device/simulator.h"
#include "inputs/element_at.h"
#include "inputs/larger_samples.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/spec.h"

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
  Outcome outcome;
};

FoundInCalls found_in_call(CallUnderTest& under_test, unsigned order) {
  const BlockOrders orders(block_orders_of(under_test.key(), order));
  SimulatorTools tools("race,sync,stream");
  const Observation call = observe(under_test.key(), under_test.cache().values, {.take_snapshots = false});
  FoundInCalls found{.findings = tools.take(), .element = {}, .raised = {}, .outcome = call.outcome};
  if (!found.findings.empty() && found.findings.front().space == "global")
    found.element = element_at(call.arguments, found.findings.front().address);
  if (!call.outcome.ok()) found.raised = call.outcome.raised->message;
  return found;
}

// An operator that gives something else with each call says nothing about orders.
bool is_repeatable(CallUnderTest& under_test, unsigned order, const Outcome& outcome,
                   const std::string& promised) {
  const FoundInCalls again = found_in_call(under_test, order);
  return again.outcome.ok() &&
         judge_same(under_test, again.outcome, outcome, /*bits=*/false, promised).verdict == Verdict::pass;
}

// Sums in another order round differently, so that the promised accuracy decides.
std::optional<Finding> difference_of_orders(CallUnderTest& under_test, const Outcome& first, unsigned order,
                                            const Outcome& outcome) {
  const std::string promised =
      "the same result, within the promised accuracy, in each order of blocks and warps";
  std::optional<Finding> finding = judge_same(under_test, outcome, first, /*bits=*/false, promised).finding;
  if (!finding || !is_repeatable(under_test, 0, first, promised) ||
      !is_repeatable(under_test, order, outcome, promised))
    return std::nullopt;
  finding->happened =
      fmt::format("in order {} the result is another one than in order 0: {}", order, finding->happened);
  finding->likely =
      "the result depends on the order in which blocks or warps run, and no two accesses could be named: "
      "threads read what others change, or a value that the last of them writes";
  finding->fault.kind = fault::kUnstable;
  return finding;
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
       {},
       std::move(detail)});
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
  const unsigned last = orders_of(under_test);
  std::optional<Outcome> first;
  for (unsigned order = 0; order < last; ++order) {
    const FoundInCalls found = found_in_call(under_test, order);
    if (!found.findings.empty()) return judgement_of(found, "");
    if (found.raised) return Judgement::owed("the call raised while it was watched: " + *found.raised);
    if (!first)
      first = found.outcome;
    else if (auto finding = difference_of_orders(under_test, *first, order, found.outcome))
      return Judgement::fail(*std::move(finding));
  }
  const CallKey& key = under_test.key();
  return key.dtype == key.spec->dtypes.at(key.device).front() ? judge_larger(under_test) : Judgement::pass();
}

OPGATE_REGISTER_CHECK(run_race,
                      {.name = "run.race",
                       .scope = {.variants = Scope::Variants::contiguous, .device = Scope::Device::simulated},
                       .judge = &judge});

}  // namespace
}  // namespace opgate::run_race
