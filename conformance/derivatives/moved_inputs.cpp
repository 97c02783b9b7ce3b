#include "derivatives/moved_inputs.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <cmath>

#include "compare/widen.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

constexpr double kMovement = 1.0 / 128;

}  // namespace

bool is_differentiated(const CallKey& key, const TensorInput& input) {
  const at::Tensor& tensor = input.tensor;
  return tensor.defined() && (tensor.is_floating_point() || tensor.is_complex()) &&
         !is_mutable(*key.spec, input.position);
}

void move_inputs(const CallKey& key, int seed, Arguments& arguments) {
  for (TensorInput& input : arguments.tensors) {
    if (!is_differentiated(key, input)) continue;
    const at::Tensor wide = widened(input.tensor);
    at::Tensor shares =
        make_values({"uniform", {}}, stream_key(fmt::format("movement {} of {}", seed, input.name)),
                    wide.sizes(), c10::kDouble)
            .to(wide.device());
    if (is_hermitian(wide)) shares = (shares + shares.mT()) / 2;
    const at::Tensor of_zeros = shares.abs() * (kMovement * typical_magnitude(wide));
    const at::Tensor moved =
        at::where(wide == 0, of_zeros.to(wide.scalar_type()), wide * (1 + shares * kMovement));
    input.tensor = moved.to(input.tensor.scalar_type());
    arguments.replace(input, input.tensor);
  }
}

bool is_hermitian(const at::Tensor& tensor) {
  constexpr double kRounding =
      1e-3;  // of half precision: a product with its own transpose is Hermitian but for rounding
  return tensor.dim() >= 2 && tensor.size(-1) == tensor.size(-2) && tensor.size(-1) > 1 &&
         at::allclose(tensor, tensor.mH(), kRounding, kRounding * typical_magnitude(tensor));
}

double typical_magnitude(const at::Tensor& wide) {
  if (wide.numel() == 0) return 1;
  const at::Tensor finite = at::where(wide.isfinite(), wide.abs(), at::zeros_like(wide.abs()));
  const double mean = (finite * finite).mean().item<double>();
  return mean > 0 ? std::sqrt(mean) : 1;
}

}  // namespace opgate
