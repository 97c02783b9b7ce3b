// Runs the same work on several threads that begin each round together.
#pragma once

#include <cstddef>
#include <functional>

namespace opgate {

/// Calls work(thread, round) for `rounds` rounds on each of `threads` new threads; all of them begin a
/// round at the same time. A thread whose work returns false ends, and the others go on without it. `work`
/// must not throw. Returns once all threads have ended.
void run_concurrently(size_t threads, size_t rounds,
                      const std::function<bool(size_t thread, size_t round)>& work);

}  // namespace opgate
