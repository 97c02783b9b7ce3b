// memory.uninitialised: no result depends on uninitialised or freed memory.
#include <array>

#include "device/simulator.h"
#include "judging/check.h"
#include "judging/comparison/memory_judgement.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"

namespace opgate::memory_uninitialised {
namespace {

constexpr const char* kPromised =
    "every element of the result is computed, whatever the allocated memory held before";

// Large and negative numbers, and zeros, in every type: a largest or smallest value, or a count, changes with
// one of them.
constexpr std::array kFurtherBytes{std::byte{0x7F}, std::byte{0xFE}, std::byte{0x00}};

// Where kernels load memory that was not written, shared memory above all, and the values reach what the host
// reads of the results, or decide what is done.
std::vector<simulator::Finding> unwritten_loads(CallUnderTest& under_test) {
  SimulatorTools tools("init");
  const Outcome outcome =
      observe(under_test.key(), under_test.cache().values, {.take_snapshots = false}).outcome;
  for (const at::Tensor& value : outcome.values()) {
    if (value.defined()) static_cast<void>(value.cpu());
  }
  return tools.take();
}

std::vector<std::string> places_of(const std::vector<simulator::Finding>& loads) {
  if (loads.empty()) return {};
  std::vector<std::string> detail{loads.front().message, "kernel: " + loads.front().kernel,
                                  "at: " + text_of(loads.front().place)};
  if (loads.size() > 1) detail.push_back(fmt::format("{} more of other places", loads.size() - 1));
  return detail;
}

Judgement judge_loads(CallUnderTest& under_test, const std::vector<simulator::Finding>& loads) {
  if (loads.empty()) return Judgement::pass();
  for (const std::byte byte : kFurtherBytes) {
    const auto change = change_with_fresh(under_test, byte);
    if (!change) continue;
    return Judgement::fail({kPromised,
                            *change,
                            "a kernel uses memory of its block or its threads before it is written",
                            {fault::kUninitialised, ""},
                            places_of(loads)});
  }
  return Judgement::pass();
}

// On the simulated device, the tool `init` names the kernel's line.
Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  Judgement judged = judge_poison(under_test, PoisonedMemory::fresh, kPromised);
  const CallKey& key = under_test.key();
  if (key.device != kSimulatedType || !is_simulated() || !under_test.observed().outcome.ok()) return judged;
  if (judged.verdict == Verdict::fail) {
    for (std::string& line : places_of(unwritten_loads(under_test)))
      judged.finding->detail.push_back(std::move(line));
  } else if (judged.verdict == Verdict::pass && key.is_contiguous()) {
    if (Judgement of_loads = judge_loads(under_test, unwritten_loads(under_test)); of_loads.finding)
      return of_loads;
  }
  return judged;
}

OPGATE_REGISTER_CHECK(memory_uninitialised, {.name = "memory.uninitialised",
                                             .scope = {.variants = Scope::Variants::every},
                                             .quick = true,
                                             .explores = true,
                                             .judge = &judge});

}  // namespace
}  // namespace opgate::memory_uninitialised
