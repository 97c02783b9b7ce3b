#include "layouts/layout.h"

namespace opgate::offset {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  placements.push_back({"offset", geometry(sizes.vec(), dense_strides(sizes), 1)});
}

OPGATE_REGISTER_LAYOUT(offset, {.name = "offset",
                                .explanation = "x[1:] of a flat tensor: contiguous, but one element into its "
                                               "storage; finds ignored offsets and alignment assumptions",
                                .offer = &offer});

}  // namespace
}  // namespace opgate::offset
