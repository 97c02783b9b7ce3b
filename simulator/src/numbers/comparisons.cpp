#include "numbers/comparisons.h"

#include <array>

namespace opgate::simulator {
namespace comparisons_of_numbers {

struct Row {
  std::string_view name;
  const char* in_c;
};

// In the order of the enumeration.
constexpr std::array kRows{
#define OPGATE_COMPARISON(name, expression) Row{#name, #expression},
    OPGATE_COMPARISONS(OPGATE_COMPARISON)
#undef OPGATE_COMPARISON
};

}  // namespace comparisons_of_numbers

std::optional<Comparison> take_comparison(Modifiers& modifiers) {
  using namespace comparisons_of_numbers;
  if (const auto index = modifiers.take_one({"lo", "ls", "hi", "hs"}))
    return static_cast<Comparison>(static_cast<int>(Comparison::lt) + *index);
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (modifiers.take(kRows[i].name)) return static_cast<Comparison>(i);
  }
  return std::nullopt;
}

const char* in_c(Comparison comparison) {
  return comparisons_of_numbers::kRows[static_cast<std::size_t>(comparison)].in_c;
}

}  // namespace opgate::simulator
