#include "environment/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "environment/setting.h"

namespace opgate::simulator {
namespace memory_limit {

constexpr double kMegabyte = 1 << 20;
constexpr double kShareOfMachine = 0.85;  // the system needs the rest, before it kills what takes most

double bytes_of_machine() {
  const double all =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  double of_group = 0;  // a container has less; "max" is no number
  std::ifstream("/sys/fs/cgroup/memory.max") >> of_group;
  return of_group > 0 ? std::min(all, of_group) : all;
}

double bytes_allowed() {
  const std::string text = value_of(Setting::host_memory);
  char* end = nullptr;
  const double given = std::strtod(text.c_str(), &end) * kMegabyte;
  if (*end != '\0' || !(given >= 0))
    throw std::runtime_error(assignment(Setting::host_memory) + ": a number of megabytes is wanted");
  const char* const workers = std::getenv("PYTEST_XDIST_WORKER_COUNT");
  const double processes = workers == nullptr ? 1 : std::max(1.0, std::strtod(workers, nullptr));
  return (given > 0 ? given : bytes_of_machine() * kShareOfMachine) / processes;
}

// With what it has mapped of libraries.
double bytes_taken() {
  std::int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string in_gigabytes(double bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB", bytes / 1e9);
  return text.data();
}

}  // namespace memory_limit

std::string beyond_memory_limit() {
  static const double allowed = memory_limit::bytes_allowed();
  if (memory_limit::bytes_taken() <= allowed) return "";
  return "a process that takes more than " + memory_limit::in_gigabytes(allowed) +
         " of this machine's memory (`opgate sim --memory`)";
}

}  // namespace opgate::simulator
