#include "device/host_turns.h"

#include <dlfcn.h>

namespace opgate {

HostTurns::HostTurns(unsigned threads, unsigned position) {
  static const auto join =
      reinterpret_cast<void (*)(unsigned, unsigned)>(dlsym(RTLD_DEFAULT, "opgate_sim_join_turns"));
  if (join != nullptr) join(threads, position);
}

HostTurns::~HostTurns() {
  static const auto leave = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "opgate_sim_leave_turns"));
  if (leave != nullptr) leave();
}

}  // namespace opgate
