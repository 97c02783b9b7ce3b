#include "layouts/layout.h"

namespace opgate::zero_dim {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  if (!sizes.empty()) placements.push_back({"0-dim", geometry({}, {})});
}

OPGATE_REGISTER_LAYOUT(
    zero_dim, {.name = "0-dim",
               .explanation = "torch.tensor(v): one element and no dims; finds code that asks for size(-1)",
               .offer = &offer,
               .same_sizes = false});

}  // namespace
}  // namespace opgate::zero_dim
