#include <optional>

#include "layouts/layout.h"

namespace opgate::windows {
namespace {

// The last dim before `end` with more than one element.
std::optional<size_t> long_dim_before(c10::IntArrayRef sizes, size_t end) {
  while (end-- > 0) {
    if (sizes[end] > 1) return end;
  }
  return std::nullopt;
}

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  const auto inner = long_dim_before(sizes, sizes.size());
  const auto outer = inner ? long_dim_before(sizes, *inner) : std::nullopt;
  if (!outer) return;
  const int64_t step = (sizes[*inner] + 1) / 2;
  std::vector<int64_t> covered = sizes.vec();  // the sizes of the tensor that the windows are taken from
  covered[*outer] = 1;
  covered[*inner] = (sizes[*outer] - 1) * step + sizes[*inner];
  std::vector<int64_t> strides = dense_strides(covered);
  strides[*outer] = step;
  placements.push_back({"windows", geometry(sizes.vec(), std::move(strides))});
}

OPGATE_REGISTER_LAYOUT(windows,
                       {.name = "windows",
                        .explanation = "x.unfold(-1, n, (n + 1) / 2): neighbouring rows share half of "
                                       "their elements; finds kernels that take only strides of 0 "
                                       "for overlap, and copy or step by whole rows otherwise",
                        .offer = &offer});

}  // namespace
}  // namespace opgate::windows
