// What a launch reports and asks while it runs.
#pragma once

#include <cstdint>

namespace opgate::simulator {

class ProgressListener {
 public:
  virtual ~ProgressListener() = default;

  /// Is called now and then, between the turns of two blocks, so that it may let the functions of the program
  /// run in compiled code from then on. `executed` and `remaining` count instructions; `remaining` is an
  /// estimate.
  virtual void go_on(std::uint64_t executed, std::uint64_t remaining) = 0;

  /// Is asked after that: how many threads may run blocks of the launch from now on, if the launch itself
  /// allows more than one; 1 or more.
  virtual unsigned threads(std::uint64_t executed, std::uint64_t remaining) = 0;
};

}  // namespace opgate::simulator
