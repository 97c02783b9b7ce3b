// offsets(n): boundaries of intervals that divide [0, n).
//
// The first of `count` boundaries is 0, the last is n, and boundary i between them is floor((i - 1 + w) /
// (count - 2) * n). w is often exactly 0 or 1 (often_at_an_end in integers.h). Each boundary lies in a slot
// of its own, so that they ascend without being sorted; where two neighbours meet at the common edge of
// their slots, the interval between them is empty.
#include <cmath>

#include "values/integers.h"

namespace opgate {
namespace {

void fill_offsets(const std::vector<double>& parameters, uint64_t key, const at::Tensor& out) {
  const Domain domain{"offsets", parameters};
  const int64_t n = whole_parameter(domain);
  const auto count = static_cast<uint64_t>(out.numel());
  fill_integers(domain, out, n, [=](uint64_t i) -> int64_t {
    if (i == 0) return 0;
    if (i == count - 1) return n;
    const double share =
        (static_cast<double>(i - 1) + often_at_an_end(key, i)) / static_cast<double>(count - 2);
    return static_cast<int64_t>(std::floor(share * static_cast<double>(n)));
  });
}

OPGATE_REGISTER_DOMAIN(offsets, {"offsets", {1}, &fill_offsets});

}  // namespace

TensorArgument offsets(int64_t count, int64_t n) { return integer_argument({count}, "offsets", {n}); }

}  // namespace opgate
