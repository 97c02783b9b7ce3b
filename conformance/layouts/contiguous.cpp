#include "layouts/layout.h"

namespace opgate::contiguous {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  placements.push_back({std::string(kContiguous), geometry(sizes.vec(), dense_strides(sizes))});
}

OPGATE_REGISTER_LAYOUT(
    contiguous,
    {.name = "contiguous",
     .explanation = "x.contiguous(): row-major, no gaps; what every other layout is compared with",
     .offer = &offer,
     .packaged = true});

}  // namespace
}  // namespace opgate::contiguous
