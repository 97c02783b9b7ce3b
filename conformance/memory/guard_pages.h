// Blocks that lie directly against an inaccessible page. A fault there is reported in words before the
// signal ends the process.
#pragma once

#include <cstddef>
#include <string>

namespace opgate::guard_pages {

/// Maps `bytes` with an inaccessible page before and after. With `at_end` the block lies directly
/// against the page after it, otherwise against the page before it. With `at_end` the start is aligned only
/// as far as `bytes` is, which is enough for elements of any type. Throws std::bad_alloc.
void* map(size_t bytes, bool at_end);

/// Makes the block inaccessible. Its addresses are reused only after those of many other blocks.
void unmap(void* data);

/// Sets the name of the block in the report, such as "`x`". A block without a name is reported as "a block
/// that the operator allocated".
void label(const void* data, const std::string& name);

/// From now on, a SIGSEGV or SIGBUS is reported in words on stderr, with the block that it was beside, before
/// it ends the process (crashes/crash_handlers.h). Further calls in the same process do nothing.
void report_faults();

}  // namespace opgate::guard_pages
