// A region of inaccessible memory that a mistaken program touches: the first touch is noted with its stack,
// the page becomes accessible, and the program goes on.
#pragma once

#include <cstddef>
#include <vector>

#include "crashes/crash_stack.h"

namespace opgate {

/// While it exists, faults in a region do not end the process. Faults elsewhere are handled as before. There
/// is at most one object at a time in a process, whose other threads may touch the region, too.
class ResumedFaults {
 public:
  /// `begin` must be the start of a page.
  ResumedFaults(std::byte* begin, size_t bytes);
  ~ResumedFaults();
  ResumedFaults(const ResumedFaults&) = delete;
  ResumedFaults& operator=(const ResumedFaults&) = delete;

  bool has_any() const;
  /// The operator's calls at the first fault, as CrashStack::operator_frames() gives them; empty if there was
  /// none.
  std::vector<StackFrame> first() const;
};

}  // namespace opgate
