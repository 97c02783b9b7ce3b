#include <algorithm>

#include "layouts/layout.h"

namespace opgate::odd_strides {
namespace {

constexpr int64_t kOddStride = 13;

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  if (std::ranges::find(sizes, 1) == sizes.end()) return;
  std::vector<int64_t> strides = dense_strides(sizes);
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 1) strides[dim] = kOddStride;
  }
  placements.push_back({"odd-strides", geometry(sizes.vec(), std::move(strides))});
}

OPGATE_REGISTER_LAYOUT(
    odd_strides,
    {.name = "odd-strides",
     .explanation = "a stride without meaning along each dim of size 1: the tensor still counts as "
                    "contiguous; finds kernels that take a row's stride from such a dim",
     .offer = &offer});

}  // namespace
}  // namespace opgate::odd_strides
