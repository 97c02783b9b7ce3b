// The input and the outcome of a kernel launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <opgate_sim/notation.h>

namespace opgate::simulator {

class LaunchesInFlight;
class Observer;
struct LaunchSchedule;

inline Extent index_at(std::uint64_t linear, const Extent& extent) {
  return {static_cast<unsigned>(linear % extent.x), static_cast<unsigned>(linear / extent.x % extent.y),
          static_cast<unsigned>(linear / extent.x / extent.y)};
}

inline std::uint64_t linear_index(const Extent& index, const Extent& extent) {
  return (std::uint64_t{index.z} * extent.y + index.y) * extent.x + index.x;
}

enum class Access : std::uint8_t { load, store, atomic };

/// Why a kernel, or one access of it, fails. Each is a CUDA error of its own.
enum class Fault : std::uint8_t {
  none,
  illegal_address,      ///< not allocated, past the end, of another device, or of the host
  misaligned_address,   ///< not a multiple of the bytes that are accessed
  illegal_instruction,  ///< operands that the instruction does not take
  assertion,            ///< `assert` of device code
  trap,                 ///< `trap`, or an address in shared or local memory that the kernel does not have
  barrier,              ///< threads wait at a barrier that others of their block cannot reach
  timeout,              ///< the launch does not end, or has more instructions than its limit
  unsupported,          ///< an instruction that is not simulated; the case is owed
};

/// An allocation, or memory of the host that a device can access.
struct Allocated {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  bool is_of_host = false;
};

/// The memory of the simulated device, as kernels see it.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Where the host can access `bytes` bytes of the device address, or null with `why` ("past the end of an
  /// allocation of 96 bytes by 4"). `until` is how many bytes from there on may be accessed without asking
  /// again, until a kernel ends.
  virtual void* translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                          std::string& why) = 0;

  /// What an address that may be accessed lies in.
  virtual Allocated allocation_of(std::uint64_t address) = 0;

  /// Whether several threads may call `translate` at once while no memory is allocated or freed.
  virtual bool may_be_asked_at_once() const { return false; }

  /// Memory of the heap for `malloc` in a kernel; 0 if the heap has no more, or if there is none.
  virtual std::uint64_t allocate_in_kernel(std::size_t /*bytes*/) { return 0; }

  /// Gives memory of that heap back. False with `why` if nothing that is in use begins at the address.
  virtual bool free_in_kernel(std::uint64_t /*address*/, std::string& why) {
    why = "not allocated";
    return false;
  }

  /// A number that stands for all that the memory of the devices and of the host holds which a kernel can
  /// access; none if that is too much, or not known, or if there is such memory of the host, and
  /// `host_may_write` it while a kernel runs.
  virtual std::optional<std::uint64_t> digest(bool /*host_may_write*/) const { return std::nullopt; }

  /// Gives a function that undoes what is allocated and freed in kernels from now on. What other memory holds
  /// is not undone.
  virtual std::function<void()> keep_heap() {
    return [] {};
  }
};

struct Launch {
  std::string kernel;
  Extent grid;
  Extent block;
  Extent cluster;             ///< blocks; the grid is a multiple of it
  bool has_clusters = false;  ///< whether the launch or the kernel asks for them
  std::size_t dynamic_shared_bytes = 0;
  std::vector<unsigned char> parameters;  ///< `Signature::parameter_bytes` bytes
  std::uint64_t instruction_limit = 0;    ///< of the whole launch; 0: none
  unsigned char fill = 0xFF;              ///< what new shared and local memory holds
  /// The seed of the order in which blocks begin, which no kernel may rely on; 0: by index.
  std::uint64_t order_seed = 0;
  std::uint64_t number = 0;  ///< of the launches of the process; they have orders of their own
  std::shared_ptr<const LaunchSchedule> schedule;  ///< may be null; otherwise instead of the seed
  /// How many blocks the device holds at once; 0: 256. Others begin when one of those has ended.
  std::size_t most_resident = 0;
  /// Device address of 8 bytes that are 0, for `grid.sync()` of a cooperative launch. With 0, it traps, as on
  /// hardware.
  std::uint64_t grid_workspace = 0;
  /// What watches the launch; may be null. Such a launch is interpreted and never compiled, and its warps run
  /// in an order of their own for each `order_seed`. The machine does not look at it: Module::run makes a
  /// LaunchObserver of it.
  Observer* observer = nullptr;
  /// The seed of how late stores become visible to other blocks; 0: at once. Otherwise the launch is
  /// interpreted and never compiled. As for the observer, Module::run makes a LaunchObserver of it.
  std::uint64_t late_stores_seed = 0;
  /// For the observer: the launches of the stream that came before, to which this one is added; null if there
  /// are none.
  LaunchesInFlight* in_flight = nullptr;
  /// Whether the launch may begin before those have ended (programmatic dependent launch).
  bool begins_early = false;
  /// Whether the program goes on while the launch runs, so that it may write memory of the host.
  bool host_may_write = false;
  /// Gets what the kernel prints; null: stdout does.
  std::string* printed = nullptr;
};

struct Outcome {
  Fault fault = Fault::none;
  std::string message;             ///< for people: the instruction, address, and why; empty without a fault
  std::uint64_t instructions = 0;  ///< of all threads
  Extent block_index;              ///< of the thread at fault
  Extent thread_index;
  bool compiled = false;  ///< whether compiled code has executed a part of it
  /// Instructions that the interpreter has executed although there is compiled code, on the first thread of
  /// the host.
  std::uint64_t left_to_interpreter = 0;
  unsigned threads = 1;  ///< of the host, over which its blocks were spread
  std::string location;  ///< "file:line" where the PTX has `.loc`, else "line N of the PTX"
  /// The first 1024 blocks of a launch that is watched, in the order in which they began.
  std::vector<Extent> begun;
};

}  // namespace opgate::simulator
