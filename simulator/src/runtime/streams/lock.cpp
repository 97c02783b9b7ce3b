#include "runtime/streams/lock.h"

#include <new>

namespace opgate::simulator {

// Never destroyed: libraries call the runtime while the process ends.
std::mutex& simulator_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

void renew_simulator_mutex() { new (&simulator_mutex()) std::mutex; }

}  // namespace opgate::simulator
