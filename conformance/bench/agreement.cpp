#include "bench/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/comparison.h"
#include "compare/float_format.h"
#include "compare/widen.h"

namespace opgate {
namespace {

// A tolerance in ulps that keeps half of the dtype's digits, or twice what the spec promises if that is
// more.
double rough_ulps(const FloatFormat& format, const Accuracy& promised) {
  return std::max(std::exp2((format.precision - 1) / 2.0), promised.exact ? 0.0 : 2 * promised.ulps);
}

Comparison compare_roughly(const at::Tensor& got, const at::Tensor& want, const Accuracy& promised) {
  const auto format = want.defined() ? format_of_ulps(want.scalar_type(), promised) : std::nullopt;
  if (!format || got.scalar_type() != want.scalar_type()) return compare(got, want, exact());
  Accuracy rough = ulps(rough_ulps(*format, promised)).scaled_by_inputs();
  rough.dtype = promised.dtype;
  return compare(got, want, rough, largest_magnitude(want).expand(want.sizes()));
}

}  // namespace

std::optional<std::string> rough_difference(const std::vector<Compared>& all, const Accuracy& promised,
                                            bool some_may_differ) {
  constexpr int64_t kOneIn = 64;
  for (const Compared& tensors : all) {
    const Comparison comparison = compare_roughly(tensors.got, tensors.want, promised);
    const bool integral = tensors.got.defined() && !float_format(tensors.got.scalar_type());
    if (some_may_differ && integral && !comparison.unlike &&
        comparison.differing <= comparison.total / kOneIn)
      continue;
    if (comparison.within() || (!comparison.unlike && tensors.unspecified)) continue;
    return fmt::format("{}: {}", tensors.name, difference_text(comparison, tensors.got, tensors.want));
  }
  return std::nullopt;
}

}  // namespace opgate
