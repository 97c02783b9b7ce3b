// Measures what comparing one output costs: 4 KiB of float32 or half, bitwise equal, with every element one
// ulp off, and with a reference in Double, as in value.reference.
#include <ATen/ops/empty.h>
#include <benchmark/benchmark.h>
#include <opgate/accuracy.h>

#include <cstring>
#include <stdexcept>

#include "base/dtypes.h"
#include "compare/comparison.h"
#include "values/domain.h"

namespace opgate {
namespace {

constexpr int64_t kBytes = 4096;

at::Tensor numbers(c10::ScalarType dtype) {
  return make_values({"positive", {}}, 1, {kBytes / static_cast<int64_t>(c10::elementSize(dtype))}, dtype);
}

// Flips the last bit of every element, which makes it one ulp off.
at::Tensor neighbours(const at::Tensor& tensor) {
  const at::Tensor other = tensor.clone();
  auto* const bytes = static_cast<std::byte*>(other.mutable_data_ptr());
  for (size_t at = 0; at < other.nbytes(); at += other.element_size()) bytes[at] ^= std::byte{1};
  return other;
}

void measure(benchmark::State& state, const at::Tensor& got, const at::Tensor& want, Accuracy accuracy) {
  // The comparison must pass, because a difference would also cost the time to describe it.
  if (!compare(got, want, accuracy).within()) throw std::runtime_error("the tensors differ");
  for (auto _ : state) benchmark::DoNotOptimize(compare(got, want, accuracy));
  state.SetItemsProcessed(state.iterations() * got.numel());
}

const bool registered = [] {
  for (const c10::ScalarType dtype : {c10::kFloat, c10::kHalf}) {
    const at::Tensor want = numbers(dtype);
    const auto add = [&](const std::string& what, const at::Tensor& got, const at::Tensor& other,
                         Accuracy accuracy) {
      const std::string name = "compare/" + std::string(dtype_name(dtype)) + "/" + what;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](benchmark::State& state) { measure(state, got, other, accuracy); });
    };
    add("equal, exact", want.clone(), want, exact());
    add("equal, ulps", want.clone(), want, ulps(4));
    add("one ulp off", neighbours(want), want, ulps(4));
    add("reference in double", neighbours(want), want.to(c10::kDouble), ulps(4));
  }
  return true;
}();

}  // namespace
}  // namespace opgate
