#include "compare/result_difference.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <limits>

#include "compare/comparison.h"
#include "compare/widen.h"

namespace opgate {
namespace {

bool has_ulps(const at::Tensor& tensor) { return tensor.is_floating_point() || tensor.is_complex(); }

void add(const at::Tensor& base, const at::Tensor& head, ResultDifference& all) {
  const Accuracy equal = ulps(0);
  if (!has_ulps(base)) {
    const Comparison exactly = compare(head, base, exact());
    all.total += exactly.total;
    all.differing += exactly.differing;
    if (exactly.differing > 0) all.ulps = all.ulps_at_largest = std::numeric_limits<double>::infinity();
    return;
  }
  const at::Tensor magnitudes = widened(head, /*absolute=*/true);
  const Comparison by_element = compare(head, base, equal.scaled_by_inputs(), magnitudes);
  const at::Tensor largest = at::maximum(largest_magnitude(base), largest_magnitude(head));
  const Comparison by_tensor = compare(head, base, equal.scaled_by_inputs(),
                                       largest.to(magnitudes.scalar_type()).expand(base.sizes()));
  all.total += by_element.total;
  all.differing += by_element.differing;
  all.ulps = std::max(all.ulps, by_element.worst_ulps);
  all.ulps_at_largest = std::max(all.ulps_at_largest, by_tensor.worst_ulps);
}

}  // namespace

std::optional<ResultDifference> difference_of(const std::vector<at::Tensor>& base,
                                              const std::vector<at::Tensor>& head) {
  if (base.size() != head.size()) return std::nullopt;
  ResultDifference all;
  for (size_t i = 0; i < base.size(); ++i) {
    if (!base[i].defined() || !head[i].defined()) continue;
    if (base[i].sizes() != head[i].sizes() || base[i].scalar_type() != head[i].scalar_type())
      return std::nullopt;
    add(base[i], head[i], all);
  }
  return all;
}

}  // namespace opgate
