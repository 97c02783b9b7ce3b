// What belongs to the process or thread and not to a call: an operator leaves it as it found it.
#pragma once

#include <c10/core/DeviceType.h>

#include <memory>
#include <string>
#include <vector>

namespace opgate {

class ProcessState {
 public:
  /// As it is now; with the current device and stream where `device` is CUDA.
  explicit ProcessState(c10::DeviceType device);
  ~ProcessState();
  ProcessState(ProcessState&&) noexcept;

  /// What is otherwise now, in words: "grad mode is off, was on".
  std::vector<std::string> changes() const;

  /// True where the default generator's state is another now.
  bool drew_random_numbers() const;

  /// Makes it as it was.
  void restore() const;

 private:
  struct Values;
  struct Before;
  std::unique_ptr<Before> before_;
};

/// Seeds the default generator of this device, so that calls that draw from it can be repeated.
void seed_default_generator(c10::DeviceType device);

}  // namespace opgate
