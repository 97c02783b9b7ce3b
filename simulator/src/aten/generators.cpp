#include "aten/generators.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

namespace opgate::simulator::aten {

at::Generator on_host(const at::Generator& wanted, c10::Device device) {
  if (wanted.defined() && wanted.device().is_cpu()) return wanted;
  at::Generator generator = wanted.defined() ? wanted : at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // spreads offsets over all seeds
  constexpr std::uint64_t kStep = 4;                  // the device's generator counts in fours
  const std::uint64_t offset = generator.get_offset();
  generator.set_offset(offset + kStep);
  return at::detail::createCPUGenerator(generator.current_seed() + offset * kOdd);
}

}  // namespace opgate::simulator::aten
