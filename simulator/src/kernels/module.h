// What executes kernels: PTX in, effects on the simulated device's memory out. It knows nothing of the CUDA
// runtime API, of streams or of torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiled/compilation_settings.h"
#include "machine/launches/launch.h"
#include "ptx/signature.h"

namespace opgate::simulator {

/// One module of PTX. Not thread-safe: one launch at a time.
class Module {
 public:
  /// Reads declarations; bodies are read when a kernel is first wanted. `threads_hold_copies`: see Program.
  /// Throws std::runtime_error with the line and what was not understood.
  static std::unique_ptr<Module> parse(std::string ptx, bool threads_hold_copies = false);

  virtual ~Module() = default;

  /// Names of all entries.
  virtual std::vector<std::string> kernels() const = 0;

  /// Null if the module has no such entry. Throws std::runtime_error if its body cannot be read.
  virtual const Signature* find(const std::string& kernel) = 0;

  virtual std::vector<Variable> variables() const = 0;

  /// The device address of a variable; to be given before the first launch of a kernel that names it.
  virtual void place(const std::string& variable, std::uint64_t address) = 0;

  /// By default as the environment says.
  virtual void set_compilation(const CompilationSettings& settings) = 0;

  /// Runs a kernel to its end. What an instruction does that is not simulated is `Fault::unsupported`, with
  /// its name.
  virtual Outcome run(const Launch& launch, DeviceMemory& memory) = 0;
};

}  // namespace opgate::simulator
