#include "layouts/layout.h"

namespace opgate::transposed {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  const size_t rank = sizes.size();
  if (rank < 2 || sizes[rank - 1] < 2 || sizes[rank - 2] < 2) return;
  std::vector<int64_t> strides = dense_strides(sizes);
  strides[rank - 2] = 1;
  strides[rank - 1] = sizes[rank - 2];
  placements.push_back({"transposed", geometry(sizes.vec(), std::move(strides))});
}

OPGATE_REGISTER_LAYOUT(transposed,
                       {.name = "transposed",
                        .explanation = "x.mT of a contiguous tensor: the last two dims swapped in memory",
                        .offer = &offer,
                        .packaged = true});

}  // namespace
}  // namespace opgate::transposed
