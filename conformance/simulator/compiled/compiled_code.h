// Kernels that were translated to C and compiled: what they are given, and how they are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opgate::simulator {

class Thread;

/// Bytes of global memory that may be accessed without asking DeviceMemory, until the kernel ends.
struct Window {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  unsigned char* host = nullptr;
};

/// What compiled code reads and writes. The translator declares the same structure in C (kPrelude); its fields have one size
/// each, so that both agree.
struct CompiledContext {
  std::uint64_t* registers = nullptr;  ///< of the frame that runs
  unsigned char* shared = nullptr;
  unsigned char* local = nullptr;
  unsigned char* parameters = nullptr;
  Window* windows = nullptr;                     ///< of the grid, by the site of the instruction
  const std::uint64_t* initial = nullptr;        ///< the slots of a new frame
  const std::uint64_t* frame_values = nullptr;   ///< of the block, in the order of Function::frame_values
  std::uint64_t shared_bytes = 0;
  std::uint64_t local_bytes = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t thread_index[3] = {};
  std::uint64_t linear_index = 0;  ///< of the thread in its block
  std::uint64_t left = 0;          ///< how many instructions the thread may still execute in its turn
  std::uint64_t next = 0;          ///< the index of the instruction that comes next, or one of the values below
  /// Executes one instruction as the interpreter does.
  void (*execute)(CompiledContext* context, std::uint64_t index, std::uint64_t left) = nullptr;
  /// Where the host can access what an instruction accesses, with all checks. It throws what the interpreter throws.
  unsigned char* (*locate)(CompiledContext* context, std::uint64_t index, std::uint64_t left, std::uint64_t address,
                           std::uint64_t bytes, std::uint64_t how) = nullptr;
  double (*exp2)(double) = nullptr;
  double (*log2)(double) = nullptr;
  double (*tanh)(double) = nullptr;
  Thread* thread = nullptr;
};

/// `next` of a thread that has ended.
constexpr std::uint64_t kThreadExits = 0xffffffff;
/// `next` where an instruction that the interpreter executed has decided what comes next.
constexpr std::uint64_t kNextIsSet = 0xfffffffe;
/// Where a thread begins that has no registers yet.
constexpr std::uint64_t kFreshThread = 0xffffffff;

using CompiledEntry = void (*)(CompiledContext* context, std::uint64_t left, std::uint64_t at);

/// One function of a program.
struct CompiledFunction {
  CompiledEntry enter = nullptr;
  std::vector<bool> begins;  ///< whether the code can be entered at an instruction, by its index
};

}  // namespace opgate::simulator
