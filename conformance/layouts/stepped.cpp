#include "layouts/layout.h"

namespace opgate::stepped {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  if (sizes.empty() || sizes.back() < 2) return;
  std::vector<int64_t> strides = dense_strides(sizes);
  for (int64_t& stride : strides) stride *= 2;
  placements.push_back({"stepped", geometry(sizes.vec(), std::move(strides), 0, 1)});
}

OPGATE_REGISTER_LAYOUT(
    stepped,
    {.name = "stepped",
     .explanation = "x[..., ::2]: every second element, a gap after each; finds kernels that ignore strides",
     .offer = &offer,
     .packaged = true});

}  // namespace
}  // namespace opgate::stepped
