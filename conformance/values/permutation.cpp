// permutation: 0 ... count-1, sorted by the stream's first `count` numbers; where two of these are equal,
// the integers stay in ascending order.
#include <algorithm>
#include <numeric>

#include "values/counter.h"
#include "values/integers.h"

namespace opgate {
namespace {

void fill_permutation(const std::vector<double>&, uint64_t key, const at::Tensor& out) {
  std::vector<int64_t> order(static_cast<size_t>(out.numel()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return bits_at(key, static_cast<uint64_t>(i)); });
  fill_integers({"permutation", {}}, out, out.numel() - 1, [&](uint64_t i) { return order[i]; });
}

OPGATE_REGISTER_DOMAIN(permutation, {"permutation", {0}, &fill_permutation});

}  // namespace

TensorArgument permutation(int64_t count) { return integer_argument({count}, "permutation", {}); }

}  // namespace opgate
