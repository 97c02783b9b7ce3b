// What executes kernels: PTX in, effects on the simulated device's memory out. It knows nothing of the CUDA runtime API,
// of streams or of torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace opgate::simulator {

class Observer;

/// Three sizes or indices, as in `dim3`.
struct Extent {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

enum class Access : std::uint8_t { load, store, atomic };

/// Why a kernel, or one access of it, fails. Each is a CUDA error of its own.
enum class Fault : std::uint8_t {
  none,
  illegal_address,     ///< not allocated, past the end, of another device, or of the host
  misaligned_address,  ///< not a multiple of the bytes that are accessed
  assertion,           ///< `assert` of device code
  trap,                ///< `trap`, or an address in shared or local memory that the kernel does not have
  barrier,             ///< threads wait at a barrier that others of their block cannot reach
  timeout,             ///< more instructions than the limit of the launch
  unsupported,         ///< an instruction that is not simulated; the case is owed
};

/// The memory of the simulated device, as kernels see it.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Where the host can access `bytes` bytes of the device address, or null with `why` ("past the end of an allocation of
  /// 96 bytes by 4"). `until` is how many bytes from there on may be accessed without asking again, until a kernel ends.
  virtual void* translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                          std::string& why) = 0;
};

/// One parameter of a kernel in its block of parameters. Offset and size in bytes.
struct Parameter {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// What a launch must know of a kernel.
struct Signature {
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  std::size_t static_shared_bytes = 0;
  std::size_t local_bytes = 0;    ///< of each thread
  unsigned max_threads = 1024;    ///< of a block: `.maxntid`, or the device's limit
  unsigned required_cluster = 0;  ///< `.reqnctapercluster`; 0 where the kernel asks for none
  unsigned target = 0;  ///< the compute capability that the PTX was written for: 90 for `.target sm_90a`
};

/// A variable in global or constant memory that a module declares.
struct Variable {
  std::string name;
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  bool constant = false;
  std::vector<unsigned char> initial;  ///< empty where the PTX gives no initializer: zeros
};

struct Launch {
  std::string kernel;
  Extent grid;
  Extent block;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<unsigned char> parameters;  ///< `Signature::parameter_bytes` bytes
  std::uint64_t instruction_limit = 0;    ///< of the whole launch; 0: none
  unsigned char fill = 0xFF;              ///< what new shared and local memory holds
  std::uint64_t order_seed =
      0;  ///< of the order in which blocks begin, which no kernel may rely on; 0: by index
  /// How many blocks the device holds at once; 0: 256. Others begin when one of those has ended.
  std::size_t most_resident = 0;
  /// Device address of 8 bytes that are 0, for `grid.sync()` of a cooperative launch. With 0, it traps, as on hardware.
  std::uint64_t grid_workspace = 0;
  /// What watches the launch; may be null. Such a launch is interpreted and never compiled, and its warps run in an
  /// order of their own for each `order_seed`.
  Observer* observer = nullptr;
};

struct Outcome {
  Fault fault = Fault::none;
  std::string message;             ///< for people: the instruction, address, and why; empty without a fault
  std::uint64_t instructions = 0;  ///< of all threads
  Extent block_index;              ///< of the thread at fault
  Extent thread_index;
  bool compiled = false;  ///< whether compiled code has executed a part of it
  std::string location;   ///< "file:line" where the PTX has `.loc`, else "line N of the PTX"
};

/// Whether kernels are translated to C and compiled, which makes long launches faster. The results are the
/// same.
struct CompilationSettings {
  enum class When : std::uint8_t {
    never,
    always,
    automatic,  ///< where it takes less time than it saves
  };
  When when = When::automatic;
  std::string folder;    ///< where compiled kernels are kept; empty: $OPGATE_SIM_CACHE, or that of XDG
  std::string compiler;  ///< a C compiler; empty: $OPGATE_SIM_CC, or the first of cc, gcc and clang

  /// OPGATE_SIM_COMPILE: never, always or automatic. Throws std::runtime_error for any other word.
  static CompilationSettings from_environment();
};

/// One module of PTX. Not thread-safe: one launch at a time.
class Module {
 public:
  /// Reads declarations; bodies are read when a kernel is first wanted. Throws std::runtime_error with the line and what was
  /// not understood.
  static std::unique_ptr<Module> parse(std::string ptx);

  virtual ~Module() = default;

  /// Names of all entries.
  virtual std::vector<std::string> kernels() const = 0;

  /// Null where the module has no such entry. Throws std::runtime_error where its body cannot be read.
  virtual const Signature* find(const std::string& kernel) = 0;

  virtual std::vector<Variable> variables() const = 0;

  /// The device address of a variable; to be given before the first launch of a kernel that names it.
  virtual void place(const std::string& variable, std::uint64_t address) = 0;

  /// By default as the environment says.
  virtual void set_compilation(const CompilationSettings& settings) = 0;

  /// Runs a kernel to its end. What an instruction does that is not simulated is `Fault::unsupported`, with its name.
  virtual Outcome run(const Launch& launch, DeviceMemory& memory) = 0;
};

}  // namespace opgate::simulator
