#include "layouts/layout.h"

namespace opgate::negated {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  placements.push_back({"negated", geometry(sizes.vec(), dense_strides(sizes)), View::negated});
}

// Such views come from the imaginary part of a lazily conjugated tensor, which has one of these real
// dtypes. Complex tensors support the neg bit, too.
bool accepts_dtype(c10::ScalarType dtype) {
  return dtype == c10::kHalf || dtype == c10::kFloat || dtype == c10::kDouble || c10::isComplexType(dtype);
}

OPGATE_REGISTER_LAYOUT(negated,
                       {.name = "negated",
                        .explanation = "x.conj().imag: a lazy view, memory holds the negative; finds "
                                       "kernels that claim to handle the neg bit and ignore it",
                        .offer = &offer,
                        .accepts_dtype = &accepts_dtype});

}  // namespace
}  // namespace opgate::negated
