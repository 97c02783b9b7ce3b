#include "layouts/layout.h"

namespace opgate::expanded {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  std::vector<int64_t> strides = dense_strides(sizes);
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] < 2) continue;
    // The dims before this one have size 1, so the storage holds one row.
    strides[dim] = 0;
    placements.push_back({"expanded", geometry(sizes.vec(), std::move(strides))});
    return;
  }
}

OPGATE_REGISTER_LAYOUT(expanded, {.name = "expanded",
                                  .explanation = "x.expand(...): stride 0 along the first dim, so that all "
                                                 "rows are one; finds kernels that read numel() elements",
                                  .offer = &offer});

}  // namespace
}  // namespace opgate::expanded
