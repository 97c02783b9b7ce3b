// Kernels that were translated to C and compiled: what they are given, and how they are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/instruction.h"

namespace opgate::simulator {

class Block;
class Thread;
struct Function;

/// Bytes of global memory that may be accessed without asking DeviceMemory, until the kernel ends.
struct Window {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  unsigned char* host = nullptr;
};

/// A window as compiled code looks at it: at a distance of d bytes from `begin`, where d is a multiple of the
/// bytes of the access, d / bytes must be less than `last`.
struct CompiledWindow {
  std::uint64_t begin = 0;
  std::uint64_t last = 0;
  std::uint64_t to_host = 0;  ///< what must be added to a device address
};

/// What goes on together: one thread, a block from barrier to barrier, or a warp, also from one instruction
/// that it executes together to the next.
constexpr std::uint64_t kAlone = 0;
constexpr std::uint64_t kBlockTogether = 1;
constexpr std::uint64_t kWarpTogether = 2;

/// How deep calls in compiled code may be, which take memory of the host's stack.
constexpr std::uint64_t kMostCalls = 64;

/// What compiled code reads and writes. The translator declares the same structure in C (kPrelude); its
/// fields have one size each, so that both agree.
struct CompiledContext {
  std::uint64_t* registers = nullptr;  ///< of the frame that runs
  unsigned char* shared = nullptr;
  unsigned char* local = nullptr;
  unsigned char* parameters = nullptr;
  CompiledWindow* windows = nullptr;            ///< by the site of the instruction
  const std::uint64_t* initial = nullptr;       ///< the slots of a new frame
  const std::uint64_t* frame_values = nullptr;  ///< of the block, in the order of Function::frame_values
  std::uint64_t shared_bytes = 0;
  std::uint64_t local_bytes = 0;
  std::uint64_t parameter_bytes = 0;
  // Threads that begin run one after the other without coming back, as long as they need nothing of the
  // interpreter.
  std::uint64_t thread_index[3] = {};
  std::uint64_t linear_index = 0;  ///< of the thread in its block
  std::uint64_t end_index = 0;     ///< of the last of these threads, plus 1
  std::uint64_t block_extent[2] = {};
  std::uint64_t budget = 0;     ///< instructions that all of them may still execute
  std::uint64_t reserve = 0;    ///< no other thread begins where so many are not left
  std::uint64_t is_spread = 0;  ///< whether other threads of the host run blocks of the launch at once
  // Threads that have met go on one after the other without coming back, as long as they meet again or end.
  std::uint64_t together = kAlone;
  std::uint64_t* stops = nullptr;  ///< of each thread of the block: where it goes on, and then its `next`
  std::uint64_t** registers_of = nullptr;  ///< each thread of the block
  std::int64_t turn =
      0;  ///< how many instructions a thread that begins may execute, until it comes to the end of a turn
  std::int64_t left =
      0;  ///< how many the thread may still execute; negative where its turn could not end yet
  std::uint64_t next = 0;  ///< the index of the instruction that comes next, or one of the values below
  // Calls in compiled code. Where there is room, compiled code moves the arguments itself, and the thread
  // learns of the frame only when the interpreter is asked for something.
  std::uint64_t calls = 0;       ///< functions that compiled code has entered and not left
  std::uint64_t settled = 0;     ///< of them, those of which the thread has frames
  std::uint64_t local_base = 0;  ///< of the frame that runs, in local memory
  std::uint64_t fill = 0;        ///< of new local memory
  // What there is room for: slots, bytes of local memory, and frames after this one.
  const std::uint64_t* end_of_registers = nullptr;
  std::uint64_t local_room = 0;
  std::uint64_t frames_left = 0;
  const Function* function = nullptr;        ///< that runs
  const Function** functions = nullptr;      ///< those of the program
  const std::uint64_t** initials = nullptr;  ///< the slots of their new frames
  std::uint64_t pending[kMostCalls] = {};    ///< index of the instruction, and of the function 32 bits higher
  /// Makes a thread that begins one that the interpreter can execute, and gives its registers.
  std::uint64_t* (*begin)(CompiledContext* context) = nullptr;
  /// Executes one instruction as the interpreter does.
  void (*execute)(CompiledContext* context, std::uint64_t index, std::int64_t left) = nullptr;
  /// Executes a call, and the function that is called as far as its compiled code can go on. Nonzero if the
  /// function has come back; otherwise the thread is left, as `next` says.
  std::uint64_t (*call)(CompiledContext* context, std::uint64_t index, std::int64_t left) = nullptr;
  /// Takes the frame of the innermost function from the thread, which has had to learn of it.
  void (*unsettle)(CompiledContext* context) = nullptr;
  /// Where the host can access what an instruction accesses, with all checks. It throws what the interpreter
  /// throws.
  unsigned char* (*locate)(CompiledContext* context, std::uint64_t index, std::int64_t left,
                           std::uint64_t address, std::uint64_t bytes, std::uint64_t how) = nullptr;
  /// The bits of what an instruction makes of the bits of its sources, without a thread.
  std::uint64_t (*compute)(CompiledContext* context, std::uint64_t index, std::uint64_t a, std::uint64_t b,
                           std::uint64_t c) = nullptr;
  double (*exp2)(double) = nullptr;
  double (*log2)(double) = nullptr;
  double (*tanh)(double) = nullptr;
  Thread* thread = nullptr;  ///< null if the interpreter has not been asked about it yet
  Block* block = nullptr;
  std::uint64_t left_to_interpreter = 0;  ///< instructions
  std::uint64_t budget_before = 0;        ///< when instructions were last counted
  std::vector<const Function*> all_functions;
  std::vector<const std::uint64_t*> all_initials;
  std::vector<CompiledWindow> all_windows;
  std::vector<std::uint64_t> scratch;  ///< registers for `compute`
};

/// `next` of a thread that has ended.
constexpr std::uint64_t kThreadExits = 0xffffffff;
/// `next` where an instruction that the interpreter executed has decided what comes next.
constexpr std::uint64_t kNextIsSet = 0xfffffffe;
/// `next` of a function that comes back to its caller, RETURNS in C.
constexpr std::uint64_t kReturns = 0xfffffffc;
/// Added to `next` where the thread has come to a barrier of its whole block, with the number of the barrier
/// 33 bits higher.
constexpr std::uint64_t kAtBarrier = std::uint64_t{1} << 32;
/// Added to `next` where the thread waits for its whole warp: the instruction before `next` is a collective.
constexpr std::uint64_t kAtCollective = std::uint64_t{1} << 63;
/// The place alone.
constexpr std::uint64_t kPlace = kAtBarrier - 1;
/// Where threads begin that have no registers yet.
constexpr std::uint64_t kFreshThreads = 0xffffffff;

/// Where threads go on that have met.
constexpr std::uint64_t kThreadsTogether = 0xfffffffd;

using CompiledEntry = void (*)(CompiledContext* context, std::int64_t left, std::uint64_t at);

/// One function of a program.
struct CompiledFunction {
  CompiledEntry enter = nullptr;
  bool waits_in_warps = false;  ///< whether warps may go on together
  std::vector<Slot> constants;  ///< slots that it does not write
  std::vector<bool> begins;     ///< whether the code can be entered at an instruction, by its index
};

}  // namespace opgate::simulator
