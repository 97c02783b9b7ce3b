// run.race: neither the threads of a kernel nor operations of two streams access the same memory at once, and
// all threads of a block reach its barriers.
#include <fmt/format.h>

#include "device/simulator.h"
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

unsigned orders_of(CallUnderTest& under_test) {
  int64_t elements = 0;
  for (const TensorInput& input : under_test.observed().arguments.tensors) elements += input.tensor.numel();
  return elements <= kElementsInAllOrders ? kOrders : elements <= kElementsInSomeOrders ? kOrders / 4 : 1;
}

// Of one call in each order, until something is found.
std::vector<simulator::Finding> found_in_calls(CallUnderTest& under_test,
                                               std::optional<std::string>& raised) {
  const unsigned last = orders_of(under_test);
  std::vector<simulator::Finding> findings;
  for (unsigned order = 0; order < last && findings.empty(); ++order) {
    const BlockOrders orders(block_orders_of(under_test.key(), order));
    SimulatorTools tools("race,sync,stream");
    const Observation call = observe(under_test.key(), under_test.cache().values, {.take_snapshots = false});
    findings = tools.take();
    if (call.outcome.ok()) continue;
    raised = call.outcome.raised->message;
    break;
  }
  return findings;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  std::optional<std::string> raised;
  const std::vector<simulator::Finding> findings = found_in_calls(under_test, raised);
  if (findings.empty())
    return raised ? Judgement::owed("the call raised while it was watched: " + *raised) : Judgement::pass();
  const simulator::Finding& first = findings.front();
  std::vector<std::string> detail = {"kernel: " + first.kernel, "at: " + text_of(first.place)};
  if (first.other) detail.push_back("and: " + text_of(*first.other));
  if (first.count > 1) detail.push_back(fmt::format("{} times at the same two places", first.count));
  if (findings.size() > 1) detail.push_back(fmt::format("{} more of other places", findings.size() - 1));
  return Judgement::fail(
      {"whatever the order in which threads and streams run, their accesses to memory are ordered",
       first.message,
       "a barrier, a fence, an atomic access or an event between streams is missing, or threads have left "
       "before a barrier",
       std::move(detail),
       {}});
}

OPGATE_REGISTER_CHECK(run_race,
                      {.name = "run.race",
                       .worker = Worker::native,
                       .scope = {.variants = Scope::Variants::contiguous, .device = Scope::Device::simulated},
                       .judge = &judge});

}  // namespace
}  // namespace opgate::run_race
