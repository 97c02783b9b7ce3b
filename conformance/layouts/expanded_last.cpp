#include <algorithm>

#include "layouts/layout.h"

namespace opgate::expanded_last {
namespace {

// Sizes with one dim alone have this layout as `expanded`.
void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  const auto is_repeated = [](int64_t size) { return size > 1; };
  if (std::ranges::count_if(sizes, is_repeated) < 2) return;
  std::vector<int64_t> row = sizes.vec();
  size_t last = row.size() - 1;
  while (row[last] < 2) --last;
  row[last] = 1;
  std::vector<int64_t> strides = dense_strides(row);
  strides[last] = 0;
  placements.push_back({"expanded-last", geometry(sizes.vec(), std::move(strides))});
}

OPGATE_REGISTER_LAYOUT(expanded_last,
                       {.name = "expanded-last",
                        .explanation = "x[:, :1].expand(...): stride 0 along the last dim; finds kernels "
                                       "that take the last dim for dense where its stride is not above 1",
                        .offer = &offer});

}  // namespace
}  // namespace opgate::expanded_last
