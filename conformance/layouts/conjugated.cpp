#include "layouts/layout.h"

namespace opgate::conjugated {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  placements.push_back({"conjugated", geometry(sizes.vec(), dense_strides(sizes)), View::conjugated});
}

OPGATE_REGISTER_LAYOUT(conjugated,
                       {.name = "conjugated",
                        .explanation = "x.conj(): a lazy view, memory holds the conjugate; finds kernels "
                                       "that claim to handle the conj bit and ignore it",
                        .offer = &offer,
                        .accepts_dtype = &c10::isComplexType});

}  // namespace
}  // namespace opgate::conjugated
