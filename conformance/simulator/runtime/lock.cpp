#include "simulator/runtime/lock.h"

namespace opgate::simulator {

// Never destroyed: libraries call the runtime while the process ends.
std::mutex& simulator_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

}  // namespace opgate::simulator
