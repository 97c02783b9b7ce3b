// value.large: 2^32 elements in little memory give what small sizes say.
//
// One size of the sample becomes 64, 128, 192 and then 2^32, with stride 0, and all other sizes become 1.
// Results that are constant over the first three, or grow by as much from each to the next, are known for the
// last one. (int32_t)2^32 is 0, and so is (uint32_t)2^32.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "memory/guard_allocator.h"

namespace opgate::value_large {
namespace {

constexpr int64_t kLarge = int64_t{1} << 32;
constexpr std::array<int64_t, 3> kSmall{64, 128, 192};
constexpr size_t kMostBytes = size_t{1} << 28;
// Rounding errors of 2^32 additions in Double, and what extrapolating from 192 elements makes of its own.
constexpr double kTolerance = 1e-5, kLinear = 1e-9;

class AllocationLimit {
 public:
  explicit AllocationLimit(size_t bytes) { guard::refuse_above(bytes); }
  ~AllocationLimit() { guard::refuse_above(0); }
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
};

std::set<int64_t> sizes_of(const Arguments& arguments) {
  std::set<int64_t> sizes;
  for (const TensorInput& input : arguments.tensors)
    sizes.insert(input.geometry.sizes.begin(), input.geometry.sizes.end());
  return sizes;
}

// The arguments with `count` elements along each dim that has this size, and one along all others.
torch::jit::Stack with_size(Arguments arguments, int64_t size, int64_t count) {
  for (const TensorInput& input : arguments.tensors) {
    at::Tensor tensor = input.tensor;
    std::vector<int64_t> sizes(tensor.dim(), 1);
    for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
      if (tensor.size(dim) == size) sizes[dim] = count;
      tensor = tensor.narrow(dim, 0, 1);
    }
    arguments.replace(input, tensor.expand(sizes));
  }
  return arguments.stack;
}

std::vector<double> numbers_of(const Outcome& call) {
  std::vector<double> numbers;
  for (const at::Tensor& tensor : call.values()) {
    if (!tensor.defined()) continue;
    const at::Tensor real = tensor.is_complex() ? at::view_as_real(tensor) : tensor;
    const at::Tensor flat = real.to(at::kDouble).contiguous().view({-1});
    numbers.insert(numbers.end(), flat.const_data_ptr<double>(),
                   flat.const_data_ptr<double>() + flat.numel());
  }
  return numbers;
}

// What the results for 2^32 elements are; none if small sizes do not say.
std::optional<std::vector<double>> expected(const CallKey& key, const Arguments& arguments, int64_t size) {
  std::array<std::vector<double>, kSmall.size()> small;
  for (size_t i = 0; i < kSmall.size(); ++i) {
    const Outcome call = call_on(key, with_size(arguments, size, kSmall[i]));
    if (!call.ok()) return std::nullopt;
    small[i] = numbers_of(call);
    if (small[i].size() != small[0].size()) return std::nullopt;  // a result grows with its arguments
  }
  std::vector<double> want;
  for (size_t i = 0; i < small[0].size(); ++i) {
    const auto [a, b, c] = std::array{small[0][i], small[1][i], small[2][i]};
    const double largest = std::max({std::abs(a), std::abs(b), std::abs(c)});
    if (!(std::abs((c - b) - (b - a)) <= kLinear * largest)) return std::nullopt;
    const bool is_constant = std::abs(c - a) <= kLinear * largest;
    const double slope = is_constant ? 0 : (c - a) / static_cast<double>(kSmall[2] - kSmall[0]);
    want.push_back(a + slope * static_cast<double>(kLarge - kSmall[0]));
  }
  return want;
}

std::optional<std::string> difference(const std::vector<double>& got, const std::vector<double>& want) {
  if (got.size() != want.size())
    return fmt::format("{} numbers are returned, not {}", got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::abs(got[i] - want[i]) <= kTolerance * std::abs(want[i])) continue;
    return fmt::format("{} is returned, not {}", got[i], want[i]);
  }
  return std::nullopt;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  const Arguments& arguments = under_test.observed().arguments;
  for (const TensorInput& input : arguments.tensors) {
    if (input.tensor.numel() == 0 || is_mutable(*key.spec, input.position))
      return Judgement::owed(
          fmt::format("`{}` has no elements in the first sample, or is written", input.name));
    if (input.tensor.is_floating_point() && input.tensor.scalar_type() != at::kDouble)
      return Judgement::owed(
          "the operator does not take Double, in which 2^32 elements are added up without losing any");
  }
  bool any = false;
  for (const int64_t size : sizes_of(arguments)) {
    const auto want = expected(key, arguments, size);
    if (!want) continue;
    any = true;
    const AllocationLimit limit(kMostBytes);
    const Outcome call = call_on(key, with_size(arguments, size, kLarge));
    const std::string promised = fmt::format(
        "2^32 elements along the dims of size {} of the sample, all of them the same one in memory (stride "
        "0), give what 64, 128 and 192 elements say",
        size);
    if (!call.ok()) {
      return Judgement::fail({promised, "raised: " + call.raised->message,
                              "the operator copies its argument, or refuses the number of elements"});
    }
    if (const auto different = difference(numbers_of(call), *want)) {
      return Judgement::fail(
          {promised, *different, "a number of elements, a size or an index is kept in 32 bits: use int64_t"});
    }
  }
  if (any) return Judgement::pass();
  return Judgement::owed(
      "no size of the first sample gives results that are known for 2^32 elements: constant, or growing by "
      "as much with each element");
}

OPGATE_REGISTER_CHECK(value_large, {.name = "value.large",
                                    .scope = {.variants = Scope::Variants::contiguous,
                                              .dtypes = Scope::Dtypes::most_precise,
                                              .first_sample = true,
                                              .promised = Promise::large_sizes,
                                              .device = Scope::Device::cpu},
                                    .slow = true,
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::value_large
