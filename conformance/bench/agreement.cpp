#include "bench/agreement.h"

#include <ATen/ops/full.h>
#include <ATen/ops/nan_to_num.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/comparison.h"
#include "compare/elements.h"
#include "compare/float_format.h"

namespace opgate {
namespace {

// Half of the digits that the dtype has.
double rough_ulps(const FloatFormat& format, const Accuracy& promised) {
  return std::max(std::exp2((format.precision - 1) / 2.0), promised.exact ? 0.0 : 2 * promised.ulps);
}

// The largest finite magnitude of the tensor, at each of its elements.
at::Tensor largest(const at::Tensor& tensor) {
  const at::Tensor zero = at::full({}, 0, c10::kDouble);
  if (tensor.numel() == 0) return zero.expand(tensor.sizes());
  const at::Tensor wide = on_host(tensor).to(tensor.is_complex() ? c10::kComplexDouble : c10::kDouble).abs();
  return at::nan_to_num(wide, 0, 0, 0).max().expand(tensor.sizes());
}

Comparison compare_roughly(const at::Tensor& got, const at::Tensor& want, const Accuracy& promised) {
  const auto format = want.defined() ? float_format(want.scalar_type()) : std::nullopt;
  if (!format || got.scalar_type() != want.scalar_type()) return compare(got, want, exact());
  return compare(got, want, ulps(rough_ulps(*format, promised)).scaled_by_inputs(), largest(want));
}

}  // namespace

std::optional<std::string> rough_difference(const std::vector<Compared>& all, const Accuracy& promised) {
  for (const Compared& tensors : all) {
    const Comparison comparison = compare_roughly(tensors.got, tensors.want, promised);
    if (comparison.within() || (!comparison.unlike && tensors.unspecified)) continue;
    return fmt::format("{}: {}", tensors.name, difference_text(comparison, tensors.got, tensors.want));
  }
  return std::nullopt;
}

}  // namespace opgate
