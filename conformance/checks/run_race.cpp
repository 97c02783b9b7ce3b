// run.race: neither the threads of a kernel nor operations of two streams access the same memory at once, and
// all threads of a block reach its barriers.
#include <fmt/format.h>

#include "device/simulator.h"
#include "inputs/element_at.h"
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

struct FoundInCalls {
  std::vector<simulator::Finding> findings;
  std::optional<std::string> element;  ///< of an argument, at the address of the first one
  std::optional<std::string> raised;
};

// Of one call in each order, until something is found.
FoundInCalls found_in_calls(CallUnderTest& under_test) {
  const unsigned last = orders_of(under_test);
  FoundInCalls found;
  for (unsigned order = 0; order < last && found.findings.empty(); ++order) {
    const BlockOrders orders(block_orders_of(under_test.key(), order));
    SimulatorTools tools("race,sync,stream");
    const Observation call = observe(under_test.key(), under_test.cache().values, {.take_snapshots = false});
    found.findings = tools.take();
    if (!found.findings.empty() && found.findings.front().space == "global")
      found.element = element_at(call.arguments, found.findings.front().address);
    if (call.outcome.ok()) continue;
    found.raised = call.outcome.raised->message;
    break;
  }
  return found;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const auto [findings, element, raised] = found_in_calls(under_test);
  if (findings.empty())
    return raised ? Judgement::owed("the call raised while it was watched: " + *raised) : Judgement::pass();
  const simulator::Finding& first = findings.front();
  std::vector<std::string> detail = {"kernel: " + first.kernel, "at: " + text_of(first.place)};
  if (first.other) detail.push_back("and: " + text_of(*first.other));
  if (element) detail.push_back("memory: " + *element);
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
