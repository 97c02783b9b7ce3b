// One lock guards the whole simulator. A function of the CUDA runtime takes it once, at its start; what it
// calls inside the simulator expects it to be held.
#pragma once

#include <mutex>
#include <new>

namespace opgate::simulator {

inline std::mutex& simulator_mutex() {
  // Never destroyed: libraries call the runtime while the process ends.
  static auto* const mutex = new std::mutex;
  return *mutex;
}

/// In a child process: a thread of the parent may have held the lock.
inline void renew_simulator_mutex() { new (&simulator_mutex()) std::mutex; }

/// Gives the lock back while code of the simulated program runs, which may wait for other threads.
class Unlocked {
 public:
  Unlocked() { simulator_mutex().unlock(); }
  ~Unlocked() { simulator_mutex().lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
};

}  // namespace opgate::simulator
