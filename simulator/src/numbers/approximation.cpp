#include "numbers/approximation.h"

#include <stdexcept>
#include <string>

#include "environment/setting.h"

namespace opgate::simulator {

ApproximationEdge approximation_edge() {
  const std::string word = value_of(Setting::approximate);
  if (word == "exact") return ApproximationEdge::none;
  if (word == "low") return ApproximationEdge::low;
  if (word == "high") return ApproximationEdge::high;
  throw std::runtime_error(assignment(Setting::approximate) + ": give exact, low or high");
}

}  // namespace opgate::simulator
