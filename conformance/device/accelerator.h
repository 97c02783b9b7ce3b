// What OpGate asks of a type of accelerator beyond what c10's guards, hooks and generators answer. CUDA's
// file is cuda.cpp; another accelerator is one more file that registers itself, with a library of its own
// where it must be linked.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgate {

/// The kernels that a call launched, as a graph of the device. Each replay computes the call's results again,
/// in the same memory, from the current values of its arguments.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;

  /// Runs the graph on the current stream and waits for it. Throws c10::Error where it fails.
  virtual void replay() = 0;
};

/// The functions that need the device's runtime. A library that is linked with it provides them when
/// Accelerator::enable() loads it.
class AcceleratorServices {
 public:
  virtual ~AcceleratorServices() = default;

  /// Makes torch allocate the device's memory between red zones, filled with poison. Throws c10::Error where
  /// torch has already allocated some.
  virtual void guard_memory() = 0;

  /// Keeps the current stream of the current device busy for `cycles` cycles of the device's clock (on a GPU,
  /// 1e6 cycles take about half a millisecond), and returns immediately.
  virtual void delay(int64_t cycles) = 0;

  /// The seconds between an event on the current stream before `work` and one after it. Waits for both.
  /// Throws what `work` throws, and c10::Error where a kernel fails.
  virtual double seconds(const std::function<void()>& work) = 0;

  /// Takes the error that the runtime holds for this thread, in its words; empty if there is none. The next
  /// operator that checks its launches would report it.
  virtual std::string take_last_error() = 0;

  /// Runs `call` twice on a stream other than the default one, which must be current again afterwards: once
  /// to warm up, and once to capture what it launches. Throws what `call` throws, and c10::Error where the
  /// launches cannot be captured.
  virtual std::unique_ptr<CapturedGraph> capture(const std::function<void()>& call) = 0;
};

/// The allocator of a device: OpGate's, with red zones and poison, or torch's own, which is faster.
enum class DeviceAllocator { guarded, plain };

/// What a programmer for the device calls its things, for messages that say what to write.
struct AcceleratorWords {
  std::string_view device_guard;    ///< "c10::cuda::CUDAGuard"
  std::string_view current_stream;  ///< "c10::cuda::getCurrentCUDAStream()"
  std::string_view launch_check;    ///< "C10_CUDA_KERNEL_LAUNCH_CHECK()", to be written after each launch
  std::string_view last_error;      ///< "cudaGetLastError()"
  std::string_view graph;           ///< "CUDA graph"
  std::string_view allocation;      ///< "cudaMalloc"
};

class Accelerator {
 public:
  virtual ~Accelerator() = default;

  virtual c10::DeviceType type() const = 0;

  virtual AcceleratorWords words() const = 0;

  /// The reason why calls cannot run here, such as "no NVIDIA driver (libcuda.so.1) on this machine"; none if
  /// they can. Asks the driver without loading any part of torch.
  virtual std::optional<std::string> missing() const = 0;

  /// The model name of the first device; empty if there is none.
  virtual std::string model() const = 0;

  /// The compiler that libraries with kernels for it are built with: "nvcc".
  virtual std::string compiler() const = 0;

  /// The environment variable that hides devices from a process: "CUDA_VISIBLE_DEVICES".
  virtual std::string_view visible_devices() const = 0;

  /// Torch's libraries for it, by file name, in the order in which they are loaded.
  virtual std::vector<std::string> torch_libraries() const = 0;

  /// Folders of the libraries that those of torch need, where they are not on the linker's own path.
  virtual std::vector<std::filesystem::path> library_folders() const = 0;

  /// Whether a library of this file name belongs to its runtime: "libcudart.so.13".
  virtual bool has_library(std::string_view file) const = 0;

  /// Whether its runtime, or torch's libraries for it, define symbols like this one, given as it is and
  /// demangled.
  virtual bool has_symbol(std::string_view symbol, std::string_view demangled) const = 0;

  /// Whether the message of an exception is the runtime's own, as where a kernel failed, and no operator's.
  virtual bool is_error_of_runtime(std::string_view message) const = 0;

  /// Makes the device usable in this process; does nothing after the first call. Must be called before
  /// anything allocates memory on it. Throws SetupError if a library cannot be loaded.
  virtual void enable(DeviceAllocator allocator) = 0;

  /// Throws SetupError before enable().
  virtual AcceleratorServices& services() const = 0;
};

/// To be called by a static object of the accelerator's file. True, so that it can initialise one.
bool register_accelerator(Accelerator& accelerator);

/// Those that OpGate knows, sorted by type, whether or not this machine has one.
const std::vector<Accelerator*>& accelerators();

/// The first of accelerators() that `is_it` accepts; null if there is none.
const Accelerator* find_accelerator(const std::function<bool(const Accelerator&)>& is_it);

/// Throws SetupError if OpGate knows none of this type.
Accelerator& accelerator(c10::DeviceType type);

/// The CPU and the types of all accelerators.
const std::vector<c10::DeviceType>& device_types();

/// The type that ids and specs call "cpu" or "cuda"; none if OpGate knows no such device.
std::optional<c10::DeviceType> device_type_named(std::string_view name);

/// The names of device_types(): "cpu", "cuda".
std::vector<std::string> device_type_names();

/// Called by the library of an accelerator when it is loaded: what Accelerator::services() then gives.
void provide_services(c10::DeviceType type, AcceleratorServices& services);

/// What was provided; null before the library is loaded.
AcceleratorServices* provided_services(c10::DeviceType type);

}  // namespace opgate
