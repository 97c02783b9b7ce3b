#include "instructions/whole_warp.h"

#include <bit>
#include <string>

#include "machine/block.h"
#include "machine/faults.h"

namespace opgate::simulator {

void require_whole_warp(Thread* const* lanes, std::uint32_t mask) {
  const Thread& first = *lanes[std::countr_zero(mask)];
  if (~mask != 0) {
    throw KernelFault{Fault::trap, *first.current().text + " by " + std::to_string(std::popcount(mask)) +
                                       " of the 32 threads of a warp"};
  }
  for (std::size_t lane = 1; lane < kWarpSize; ++lane) {
    if (lanes[lane]->next == first.next) continue;
    throw KernelFault{Fault::trap, *first.current().text + " by threads of a warp that are at lines " +
                                       std::to_string(first.current().line) + " and " +
                                       std::to_string(lanes[lane]->current().line) + " of the PTX"};
  }
}

}  // namespace opgate::simulator
