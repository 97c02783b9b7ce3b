// Threads that help to run large launches. They begin when they are first needed, and wait for work until the
// process ends.
#pragma once

#include <functional>

namespace opgate::simulator {

/// Does `own` on this thread, and `helping` on at most so many others at once. Returns when all of them are
/// done. Helpers that have not begun when `own` is done are not waited for, and do not begin any more, so
/// that nothing takes longer on a machine that is busy. What any of them throws is thrown here, after that.
void do_with_helpers(unsigned helpers, const std::function<void()>& own,
                     const std::function<void()>& helping);

}  // namespace opgate::simulator
