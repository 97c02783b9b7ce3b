// What a process does when a signal is about to end it: it reports the block of memory beside a fault, and a
// worker sends its stack to the supervisor (crashes/crash_stack.h), which can still read files and allocate
// memory.
#pragma once

#include <string_view>

namespace opgate {

/// Installs handlers for the signals that a broken operator dies of: SIGSEGV, SIGBUS, SIGFPE, SIGILL and
/// SIGABRT. They call `describe_fault` with the address of a SIGSEGV or SIGBUS; it must be safe in a signal
/// handler. The handlers that the program had before are called next, or the signal ends the process as
/// usual. Further calls in the same process do nothing.
void handle_crashes(void (*describe_fault)(const void* address));

/// In a worker: from now on, the handlers also write the stack to kAnswerDescriptor, in lines that begin with
/// kStackLine: one with the signal, one for each return address from the innermost call outwards, one for
/// each mapping of executable code. Before them comes the first line of what an exception says that is not
/// caught.
void send_stack_of_crashes();

inline constexpr std::string_view kStackLine = "stack ";

}  // namespace opgate
