// What an operator may use up before it costs its own case, and nobody else's: time, memory, processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace opgate {

struct Limits {
  std::chrono::seconds native_case{30};  ///< without an answer for so long, a native worker is taken to hang
  std::chrono::seconds python_case{
      180};                           ///< the same for a call in the Python half: export, compile, opcheck
  std::chrono::seconds package{900};  ///< and for the compilation of a package
  uint64_t memory;                    ///< bytes that a worker may hold
};

/// The presets: the machine's physical memory.
Limits default_limits();

/// From now on this process gets no more than so many bytes of memory of its own (heap, private mappings).
/// Address space that is only reserved, and what is shared, does not count. Throws SetupError.
void limit_memory(uint64_t bytes);

/// From now on this process and its threads start threads, but no processes: fork and its kin fail with
/// EAGAIN.
void forbid_processes();

/// What to add to a crash, or to an exception, that speaks of memory that could not be had; else nothing.
std::string memory_note(std::string_view said, uint64_t bytes);

}  // namespace opgate
