// Threads that call operators at once, on a simulated device.
#pragma once

namespace opgate {

/// While it lives, this thread and others, `threads` together, take turns at the functions of CUDA, beginning
/// with the one at position 0, so that what one call sets for its kernel is met by what the other one sets.
/// Does nothing if CUDA is not simulated in this process.
class HostTurns {
 public:
  /// Waits for the other threads.
  HostTurns(unsigned threads, unsigned position);
  ~HostTurns();
  HostTurns(const HostTurns&) = delete;
  HostTurns& operator=(const HostTurns&) = delete;
};

}  // namespace opgate
