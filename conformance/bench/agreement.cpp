#include "bench/agreement.h"

#include <ATen/ops/full.h>
#include <ATen/ops/nan_to_num.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checks/outputs.h"
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

std::optional<std::string> rough_disagreement(const std::vector<at::Tensor>& got,
                                              const std::vector<at::Tensor>& want, const Accuracy& promised,
                                              const std::set<size_t>& unspecified) {
  if (got.size() != want.size()) return fmt::format("{} tensors, not {}", got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Comparison comparison = compare_roughly(got[i], want[i], promised);
    if (comparison.within() || (!comparison.unlike && unspecified.contains(i))) continue;
    return fmt::format("{}: {}", output_name(i, got.size()), difference_text(comparison, got[i], want[i]));
  }
  return std::nullopt;
}

}  // namespace opgate
