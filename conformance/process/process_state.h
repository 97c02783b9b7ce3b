// State of the process or thread, such as grad mode, which an operator must leave as it found it.
#pragma once

#include <c10/core/DeviceType.h>

#include <memory>
#include <string>
#include <vector>

namespace opgate {

class ProcessState {
 public:
  /// Takes a snapshot of the state; it includes the current device and stream if `device` is not the CPU.
  explicit ProcessState(c10::DeviceType device);
  ~ProcessState();
  ProcessState(ProcessState&&) noexcept;

  /// Describes what has changed since the snapshot: "grad mode is off, was on".
  std::vector<std::string> changes() const;

  /// True if the state of the default CPU generator has changed since the snapshot.
  bool drew_random_numbers() const;

  /// Restores the state of the snapshot, and seeds the default CPU generator anew.
  void restore() const;

 private:
  struct Values;
  struct Before;
  std::unique_ptr<Before> before_;
};

}  // namespace opgate
