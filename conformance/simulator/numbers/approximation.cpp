#include "simulator/numbers/approximation.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace opgate::simulator {

ApproximationEdge approximation_edge() {
  const char* const text = std::getenv("OPGATE_SIM_APPROXIMATE");
  const std::string_view word = text == nullptr ? "" : text;
  if (word.empty() || word == "exact") return ApproximationEdge::none;
  if (word == "low") return ApproximationEdge::low;
  if (word == "high") return ApproximationEdge::high;
  throw std::runtime_error("OPGATE_SIM_APPROXIMATE=" + std::string(word) + ": give exact, low or high");
}

}  // namespace opgate::simulator
