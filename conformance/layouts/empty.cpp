#include "layouts/layout.h"

namespace opgate::empty {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    std::vector<int64_t> emptied = sizes.vec();
    emptied[dim] = 0;
    std::vector<int64_t> strides = dense_strides(emptied);
    placements.push_back(
        {"empty-dim" + std::to_string(dim), geometry(std::move(emptied), std::move(strides))});
  }
}

OPGATE_REGISTER_LAYOUT(
    empty, {.name = "empty",
            .explanation = "each dim in turn has size 0: nothing to read or launch, but a shape to get right",
            .offer = &offer,
            .same_sizes = false});

}  // namespace
}  // namespace opgate::empty
