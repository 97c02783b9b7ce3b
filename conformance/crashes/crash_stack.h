// The operator's calls at a fault. The last lines of a worker that died (crashes/crash_handlers.h) are read
// here, because a process whose heap is damaged can neither read files nor allocate memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opgate {

struct StackFrame {
  std::string function;  ///< without arguments; "0x1a2b", a place in the library, where it names none
  std::string library;   ///< its file
  std::string
      file;  ///< the source, where there is debug information; relative to this folder where it is below
  uint64_t line = 0;

  /// Whether the library is one of PyTorch's.
  bool is_of_torch() const;
  /// "scale_rows at kernels.cpp:41"
  std::string text() const;
};

class CrashStack {
 public:
  CrashStack() = default;
  /// The stack of this process, as interrupted_frames() gives it.
  explicit CrashStack(std::span<const uintptr_t> addresses);

  /// Returns true if the line is one of a stack.
  bool take(std::string_view line);

  bool empty() const { return addresses_.empty(); }

  /// The first line of the exception that ended the process because it was not caught; none if something else
  /// did.
  const std::optional<std::string>& uncaught() const { return uncaught_; }

  /// The frames of the operator: those of OpGate, of PyTorch and of the C library are left out, and calls
  /// that recur are named once. The innermost comes first, at most four. Where all are left out, the
  /// innermost of PyTorch, whose own operator it is.
  std::vector<StackFrame> operator_frames() const;

 private:
  struct Mapping {
    uint64_t begin, end;
    uint64_t offset;  // of `begin` in the file
    std::string file;
  };
  const Mapping* find(uint64_t address) const;
  void take_mapping(std::string_view line);

  std::optional<std::string> uncaught_;
  std::vector<uint64_t> addresses_;
  std::vector<Mapping> mappings_;
};

}  // namespace opgate
