// State of the process or thread, such as grad mode, which an operator must leave as it found it.
#pragma once

#include <c10/core/DeviceType.h>

#include <memory>
#include <string>
#include <vector>

namespace opgate {

class ProcessState {
 public:
  /// How much of the state is looked at. Each signal handler costs a call of the kernel, and the random
  /// numbers take some KiB, so they are left out where a snapshot is taken often.
  enum class Extent { everything, without_signals, without_signals_and_random };

  /// Takes a snapshot of the state; it includes the current device and stream if `device` is not the CPU.
  explicit ProcessState(c10::DeviceType device, Extent extent = Extent::everything);
  ~ProcessState();
  ProcessState(ProcessState&&) noexcept;

  /// Describes what has changed since the snapshot: "grad mode is off, was on".
  std::vector<std::string> changes() const;

  /// True if the state of the default generator of the CPU, or of the device, has changed since the snapshot,
  /// which must include it.
  bool drew_random_numbers() const;

  /// Restores the state of the snapshot, and seeds the default generators anew.
  void restore() const;

  /// Restores what a check of a call left changed, such as grad mode that a backward switched off, so that
  /// the next operator finds the process as it was. effect.state is the check that reports such a change.
  /// Ends the process where the state cannot be restored: the supervisor then blames this call, and starts
  /// another worker.
  void restore_or_end() const;

 private:
  struct Values;
  struct Before;
  std::unique_ptr<Before> before_;
};

/// Remembers the handlers of signals, the first time that it is called.
void remember_signal_handlers();

/// Sets the handlers that were remembered, where a ProcessState has ever seen one changed; otherwise does
/// nothing, at no cost.
void restore_signal_handlers();

}  // namespace opgate
