#include "layouts/layout.h"

namespace opgate::negated {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  placements.push_back({"negated", geometry(sizes.vec(), dense_strides(sizes)), View::negated});
}

// Where such views come from: the imaginary part of a lazily conjugated tensor.
bool suits(c10::ScalarType dtype) {
  return dtype == c10::kHalf || dtype == c10::kFloat || dtype == c10::kDouble || c10::isComplexType(dtype);
}

OPGATE_REGISTER_LAYOUT(negated,
                       {.name = "negated",
                        .explanation = "x.conj().imag: a lazy view, the negative lies in memory; finds "
                                       "kernels that claim to handle the neg bit and ignore it",
                        .offer = &offer,
                        .suits = &suits});

}  // namespace
}  // namespace opgate::negated
