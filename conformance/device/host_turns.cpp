#include "device/host_turns.h"

#include <opgate_sim/loaded.h>

namespace opgate {

HostTurns::HostTurns(unsigned threads, unsigned position) {
  static const auto join = OPGATE_SIMULATED(opgate_sim_join_turns);
  if (join != nullptr) join(threads, position);
}

HostTurns::~HostTurns() {
  static const auto leave = OPGATE_SIMULATED(opgate_sim_leave_turns);
  if (leave != nullptr) leave();
}

}  // namespace opgate
