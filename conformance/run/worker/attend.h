// Keeps several workers busy at a time.
#pragma once

#include <vector>

#include "run/worker/worker_client.h"

namespace opgate {

/// Sends these workers what they are to do, waits until one of them answers, and reads the answers. Returns
/// false if this process was interrupted.
bool attend(const std::vector<WorkerClient*>& workers);

}  // namespace opgate
