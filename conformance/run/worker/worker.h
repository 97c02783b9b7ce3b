// The native worker: the process that runs calls under guard allocators and lets the checks judge them.
#pragma once

namespace opgate {

/// Serves the protocol on stdin and kAnswerDescriptor until stdin ends. Returns the exit status.
int serve_as_worker();

}  // namespace opgate
