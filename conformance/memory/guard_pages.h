// Blocks flush against an inaccessible page. A fault there is reported, in words, before the process dies of
// it.
#pragma once

#include <cstddef>
#include <string>

namespace opgate::guard_pages {

/// Maps `bytes` with an inaccessible page before and behind, flush against the one behind (`at_end`) or
/// before. At the end the block's begin is aligned as its size is, which is as far as element types ask.
/// Throws std::bad_alloc.
void* map(size_t bytes, bool at_end);

/// Makes the block inaccessible; its addresses are used again only after many others.
void unmap(void* data);

/// What the report calls the block: "`x`". Otherwise it is a block that the operator allocated.
void label(const void* data, const std::string& name);

/// Says on stderr which block a SIGSEGV or SIGBUS was beside; then the process dies of the signal as it would
/// have without. Once a process.
void report_faults();

}  // namespace opgate::guard_pages
