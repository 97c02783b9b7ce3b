#include "runtime/api/unsupported.h"

#include <driver_types.h>

#include "runtime/findings/errors.h"

namespace opgate::simulator {

int unsupported_in_runtime(const char* function) {
  errors::note_unsupported(function);
  return errors::keep(cudaErrorNotSupported);
}

// Both libraries have one number for it.
int unsupported_in_driver(const char* function) {
  errors::note_unsupported(function);
  return cudaErrorNotSupported;
}

}  // namespace opgate::simulator
