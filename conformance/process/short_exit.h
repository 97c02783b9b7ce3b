// Ends a process without torch's static destructors.
#pragma once

namespace opgate {

/// From now on, exit() ends the process once it has come to the static objects of this library. torch's,
/// which would follow, take its registry of operators apart: that is a quarter of the time of a short
/// command, and brings nothing. Handlers of exit() and of libraries that were loaded later, such as those
/// that write what a tool has measured, are carried out before.
void exit_before_torch();

}  // namespace opgate
