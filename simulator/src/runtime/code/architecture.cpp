#include "runtime/code/architecture.h"

#include <algorithm>
#include <array>

#include "runtime/devices/settings.h"

namespace opgate::simulator {
namespace architectures {

constexpr std::size_t kKilo = 1024;
constexpr std::size_t kMega = kKilo * kKilo;

constexpr std::array kAll{
    Architecture{75, "T4", 40, 1024, 16, 64 * kKilo, 64 * kKilo, 4 * kMega},
    Architecture{80, "A100", 108, 2048, 32, 164 * kKilo, 163 * kKilo, 40 * kMega},
    Architecture{86, "A40", 84, 1536, 16, 100 * kKilo, 99 * kKilo, 6 * kMega},
    Architecture{89, "L40", 142, 1536, 24, 100 * kKilo, 99 * kKilo, 96 * kMega},
    Architecture{90, "H100", 132, 2048, 32, 228 * kKilo, 227 * kKilo, 50 * kMega},
    Architecture{100, "B200", 148, 2048, 32, 228 * kKilo, 227 * kKilo, 126 * kMega},
    Architecture{120, "RTX PRO 6000", 188, 1536, 24, 100 * kKilo, 99 * kKilo, 128 * kMega},
};

}  // namespace architectures

std::vector<unsigned> known_capabilities() {
  std::vector<unsigned> known;
  for (const Architecture& each : architectures::kAll) known.push_back(each.capability);
  return known;
}

const Architecture& architecture() {
  static const Architecture& chosen =
      *std::ranges::find(architectures::kAll, settings().architecture, &Architecture::capability);
  return chosen;
}

}  // namespace opgate::simulator
