
#include "layouts/layout.h"

namespace opgate::expanded_all {
namespace {

// Sizes with one dim alone have this layout as `expanded`.
void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  const auto is_repeated = [](int64_t size) { return size > 1; };
  if (std::ranges::count_if(sizes, is_repeated) < 2) return;
  placements.push_back({"expanded-all", geometry(sizes.vec(), std::vector<int64_t>(sizes.size(), 0))});
}

OPGATE_REGISTER_LAYOUT(expanded_all,
                       {.name = "expanded-all",
                        .explanation = "a scalar's expand(...), as the gradient of sum() is: all strides "
                                       "are 0; finds kernels that read more than one element",
                        .offer = &offer});

}  // namespace
}  // namespace opgate::expanded_all
