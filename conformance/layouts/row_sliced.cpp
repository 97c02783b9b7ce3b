#include "layouts/layout.h"

namespace opgate::row_sliced {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  if (sizes.size() < 2 || sizes.back() == 0) return;
  constexpr int64_t kBefore = 1;
  constexpr int64_t kAfter = 2;
  std::vector<int64_t> padded = sizes.vec();
  padded.back() += kBefore + kAfter;
  placements.push_back({"row-sliced", geometry(sizes.vec(), dense_strides(padded), kBefore, kAfter)});
}

OPGATE_REGISTER_LAYOUT(
    row_sliced,
    {.name = "row-sliced",
     .explanation =
         "x[..., 1:-2]: dense rows with a gap between them; finds kernels that read or write past a row",
     .offer = &offer});

}  // namespace
}  // namespace opgate::row_sliced
