// Limits on time, memory and processes, so that an operator that uses too much fails its own case only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace opgate {

struct Limits {
  /// A worker that gives no answer for so long counts as hanging: in a native call, in a call in the Python
  /// half (export, compile, opcheck), and while it compiles a package.
  std::chrono::seconds native_case{30};
  std::chrono::seconds python_case{180};
  std::chrono::seconds package{900};
  uint64_t memory;  ///< bytes that a worker may use
};

/// The time limits above, and the machine's physical memory.
Limits default_limits();

/// From now on this process gets at most `bytes` of memory of its own (heap, private mappings). Address
/// space that is only reserved and shared memory do not count. Throws SetupError.
void limit_memory(uint64_t bytes);

/// From now on this process and its threads can start threads, but no processes: fork, vfork and clone fail
/// with EAGAIN. Throws SetupError.
void forbid_processes();

/// Returns a note to add to a crash or exception whose text `said` shows that memory could not be
/// allocated, and an empty string for any other text. `bytes` is the memory limit.
std::string memory_note(std::string_view said, uint64_t bytes);

}  // namespace opgate
