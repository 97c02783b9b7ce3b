// The exit statuses of the program.
#pragma once

#include "process/interrupt.h"

namespace opgate {

enum Exit { kAllKept = 0, kPromiseBroken = 1, kUsageOrSetup = 2, kInterrupted = kInterruptedStatus };

}  // namespace opgate
