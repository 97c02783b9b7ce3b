// The simulated CUDA device in this process: libraries in lib/simulator that stand in for those of CUDA.
#pragma once

#include <c10/core/DeviceType.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <opgate_sim/finding.h>
#include "device/accelerator.h"

namespace opgate {

/// The type that simulated devices have for torch.
inline constexpr c10::DeviceType kSimulatedType = c10::kCUDA;

/// Why no simulated device can be used with this OpGate, such as "this OpGate is built without the simulated
/// CUDA device (without nvcc)"; none if it can. Loads nothing.
std::optional<std::string> missing_simulator();

/// The variables with which a program is started, so that the simulated runtime library and driver of CUDA
/// are loaded instead of the real ones. Where torch first asks for devices, its own CUDA kernels are
/// replaced as well.
std::map<std::string, std::string> simulator_environment();

/// Whether CUDA is simulated in this process, which was started with simulator_environment().
bool is_simulated();

/// Makes the simulated device usable in this process. Throws SetupError if CUDA is not simulated here, and
/// where a variable OPGATE_SIM_* has an invalid value.
void enable_simulated_device(DeviceAllocator allocator);

/// What a call on the simulated device did wrong, or could not do.
struct SimulatedFailure {
  std::string error;  ///< in CUDA's words: "an illegal memory access was encountered"
  std::string
      what;  ///< "ld.global.f32 of 4 bytes at 0x...: past the end of an allocation of 96 bytes by 4 (...)"
  std::string kernel;    ///< "void twice<float>(float const*, float*, long)"; empty if it was none
  std::string location;  ///< "twice.cu:41"; empty if it is not known
  bool device_failed;    ///< every later CUDA call would have failed on a real device
  bool unsupported;      ///< it needs what is not simulated, so that nothing is known about it

  /// The place in the operator's code: "twice<float> at twice.cu:41"; empty if it was no kernel.
  std::string frame() const;
};

/// Takes what has happened since the last time, and repairs the device, which a real one would not. None if
/// nothing has, or where CUDA is not simulated here.
std::optional<SimulatedFailure> take_simulated_failure();

/// Lets the blocks of kernels that are launched from now on begin in the same orders as after each other call
/// of this function, so that an operator with atomic accesses gives the same bits for the same inputs. As
/// long as a BlockOrders lives, they are those of its number, otherwise those of 0. Does nothing if CUDA is
/// not simulated in this process.
void restart_block_orders();

class BlockOrders {
 public:
  /// The orders of each number are others.
  explicit BlockOrders(unsigned number);
  ~BlockOrders();
  BlockOrders(const BlockOrders&) = delete;
  BlockOrders& operator=(const BlockOrders&) = delete;

 private:
  unsigned before_;
};

/// While it lives, the launch of this number, from 1, is refused on the simulated device, as a device does
/// that lacks the resources.
class RefusedLaunch {
 public:
  explicit RefusedLaunch(unsigned number);
  ~RefusedLaunch();
  RefusedLaunch(const RefusedLaunch&) = delete;
  RefusedLaunch& operator=(const RefusedLaunch&) = delete;

  /// The kernel of the launch that was refused since this was made, or asked; none if there were fewer
  /// launches.
  std::optional<std::string> take_kernel();
};

/// While it lives, ATen's operators run in the order of their streams, in Python workers too, where they run
/// at once otherwise: for calls that show whether an operator keeps this order. Nothing if CUDA is not
/// simulated in this process.
class OrderedOperators {
 public:
  OrderedOperators();
  ~OrderedOperators();
  OrderedOperators(const OrderedOperators&) = delete;
  OrderedOperators& operator=(const OrderedOperators&) = delete;
};

/// What the message of an exception names that is not simulated: a library of CUDA that holds no PTX
/// ("CUBLAS"), or a function of the driver. Nothing if the message names no such library.
std::optional<std::string> unsimulated_library(std::string_view message);

/// Lets tools watch each kernel as long as it lives. Nothing if CUDA is not simulated in this process.
class SimulatorTools {
 public:
  /// `names`: "race,sync"
  explicit SimulatorTools(const char* names);
  ~SimulatorTools();
  SimulatorTools(const SimulatorTools&) = delete;
  SimulatorTools& operator=(const SimulatorTools&) = delete;

  /// Takes what was found in kernels that have ended.
  std::vector<simulator::Finding> take();
};

}  // namespace opgate
