#include "process/default_generator.h"

#include <ATen/Context.h>

#include <mutex>

namespace opgate {

void seed_default_generator(c10::Device device, uint64_t seed) {
  if (!device.is_cpu() && !device.has_index()) device.set_index(0);
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

}  // namespace opgate
