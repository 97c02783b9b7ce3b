// Work that the host does not wait for by a function of CUDA: it waits for a function of the host in a
// stream, or looks again and again at memory that a kernel writes. CUDA promises that all work ends at last,
// so that a thread of the simulator runs it when the program does nothing but wait for it.
#pragma once

namespace opgate::simulator {

/// A stream has got work.
void expect_unawaited_work();

/// In a child process, which has no such thread.
void forget_unawaited_work_of_parent();

/// The process ends: what runs comes to its end, and nothing more begins.
void stop_unawaited_work();

}  // namespace opgate::simulator
