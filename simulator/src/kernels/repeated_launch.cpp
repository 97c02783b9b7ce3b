#include "kernels/repeated_launch.h"

#include <string>

namespace opgate::simulator {

bool leaves_the_same(const Launch& launch, const Outcome& outcome, KeptMemory& kept,
                     const Execution& in_another_way) {
  Launch again = launch;
  // With other values, a loop may have no end.
  constexpr std::uint64_t kLeast = 1'000'000;
  again.instruction_limit = 4 * outcome.instructions + kLeast;
  std::string printed;
  again.printed = &printed;
  RepeatedMemory memory(kept);
  const Outcome other = in_another_way(again, memory);
  // The host may have changed meanwhile what the launch has read there.
  if (launch.host_may_write && memory.accesses_host()) return true;
  return other.fault == outcome.fault && memory.has_left_the_same();
}

}  // namespace opgate::simulator
