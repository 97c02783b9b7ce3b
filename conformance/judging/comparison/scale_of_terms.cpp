#include "judging/comparison/scale_of_terms.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "compare/float_format.h"
#include "compare/widen.h"
#include "judging/comparison/output_judgement.h"
#include "judging/comparison/perturbed_reference.h"
#include "spec/specs.h"
#include "values/counter.h"

namespace opgate {
namespace {

using Tensors = std::vector<at::Tensor>;

// All choices are tried for the signs of so many numbers; those of further ones are drawn with each choice.
constexpr uint64_t kAllTried = 3;
constexpr uint64_t kDraws = 4;
// The move of an input, in its own size: small enough that the result changes in proportion, and large enough
// that the change is not lost in the roundings of Double.
constexpr double kMove = 0x1p-30;
// An error of a random rounding is below its largest size, and the ulp at a scale is up to half as large as
// the scale's share of an ulp at 1.
constexpr double kOfLargest = 2;
// No call shows what an operator that is compared with itself rounds inside its kernel: the coordinates of an
// interpolation, whose errors grow with the sizes, and by which a result changes as its neighbours differ.
constexpr double kOfOneKernel = 4, kOfEachElement = 0.25;

bool has_magnitude(const at::Tensor& tensor) {
  return tensor.defined() && float_format(tensor.scalar_type()).has_value();
}

at::Tensor finite_magnitude(const at::Tensor& tensor) {
  return tensor.cpu().to(wide_dtype(tensor)).abs().nan_to_num(0, 0, 0);
}

bool alike(const Tensors& a, const Tensors& b) {
  return std::ranges::equal(a, b, [](const at::Tensor& one, const at::Tensor& other) {
    return one.defined() == other.defined() && (!one.defined() || one.sizes() == other.sizes());
  });
}

// |a - b| in units of `unit`, for the tensors that have a magnitude.
Tensors change_in_units(const Tensors& a, const Tensors& b, double unit) {
  Tensors changes = b;
  if (!alike(a, b)) return {};
  for (size_t i = 0; i < b.size(); ++i) {
    if (has_magnitude(b[i])) changes[i] = finite_magnitude(a[i] - b[i]).mul(kOfLargest / unit);
  }
  return changes;
}

Tensors change_by_moves(CallUnderTest& under_test, const Outcome& call, const MaterializeOptions& options,
                        const Tensors& exact, uint64_t seed, double move) {
  const Outcome moved = moved_reference(under_test, options, seed, move);
  return change_in_units(expected_values(moved, call), exact, move);
}

// What the results change by for a small move of the arguments. A result that changes as much by a still
// smaller one jumps, as a comparison does: a right kernel, which gets the inputs as they are, jumps at the
// same place.
Tensors change_in_proportion(CallUnderTest& under_test, const Outcome& call,
                             const MaterializeOptions& options, const Tensors& exact, uint64_t seed) {
  Tensors changes = change_by_moves(under_test, call, options, exact, seed, kMove);
  const Tensors smaller = change_by_moves(under_test, call, options, exact, seed, kMove / 4);
  if (changes.empty() || smaller.empty()) return {};
  for (size_t i = 0; i < changes.size(); ++i) {
    if (has_magnitude(exact[i])) changes[i] = changes[i].mul(smaller[i].le(changes[i] * 2));
  }
  return changes;
}

Tensors change_by_rounding(CallUnderTest& under_test, const Outcome& call, const MaterializeOptions& options,
                           const Tensors& exact, uint64_t seed) {
  const Outcome rounded = rounded_reference(under_test, options, seed);
  const c10::ScalarType dtype = dtype_of_rounding(under_test.key());
  return change_in_units(expected_values(rounded, call), exact, ulp_at(1, *float_format(dtype)));
}

// For the dimensions of all arguments and results.
int64_t largest_size(CallUnderTest& under_test, const Tensors& results) {
  int64_t largest = 0;
  for (const TensorInput& input : under_test.observed().arguments.tensors)
    for (const int64_t size : input.geometry.sizes) largest = std::max(largest, size);
  for (const at::Tensor& result : results)
    if (result.defined())
      for (const int64_t size : result.sizes()) largest = std::max(largest, size);
  return largest;
}

}  // namespace

uint64_t choices_of_signs(const torch::jit::Stack& stack) {
  uint64_t numbers = 0;
  for (const c10::IValue& value : stack) {
    static_cast<void>(with_numbers(value, [&](const at::Tensor& tensor) {
      ++numbers;
      return tensor;
    }));
  }
  return numbers < kAllTried ? uint64_t{1} << numbers : uint64_t{1} << kAllTried;
}

torch::jit::Stack with_signs(const torch::jit::Stack& stack, uint64_t choice) {
  torch::jit::Stack chosen;
  uint64_t number = 0;
  for (const c10::IValue& value : stack) {
    chosen.push_back(with_numbers(value, [&](const at::Tensor& tensor) {
      const uint64_t signs = number < kAllTried || choice == 0 ? choice >> number : bits_at(choice, number);
      ++number;
      const at::Tensor magnitude = tensor.abs().to(tensor.scalar_type());
      return signs % 2 == 0 ? magnitude : magnitude.neg();
    }));
  }
  return chosen;
}

std::vector<at::Tensor> largest_magnitudes(const std::vector<std::vector<at::Tensor>>& lists) {
  Tensors largest = lists.front();
  for (at::Tensor& tensor : largest) {
    if (has_magnitude(tensor)) tensor = finite_magnitude(tensor);
  }
  for (const Tensors& tensors : lists) {
    if (!alike(tensors, largest)) continue;
    for (size_t i = 0; i < largest.size(); ++i) {
      if (has_magnitude(largest[i]) && has_magnitude(tensors[i]))
        largest[i] = at::maximum(largest[i], finite_magnitude(tensors[i]));
    }
  }
  return largest;
}

std::vector<at::Tensor> scales_of_terms(CallUnderTest& under_test, const Outcome& call,
                                        const MaterializeOptions& options,
                                        const std::vector<at::Tensor>& scales) {
  const Tensors exact = expected_values(under_test.reference(options), call);
  std::vector<Tensors> found{scales};
  uint64_t choices = 1;
  for (uint64_t choice = 0; choice < choices; ++choice) {
    const Outcome other = under_test.changed_reference(options, [&](torch::jit::Stack& stack) {
      choices = choices_of_signs(stack);
      stack = with_signs(stack, choice);
    });
    found.push_back(expected_values(other, call));
  }
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    found.push_back(change_in_proportion(under_test, call, options, exact, seed));
    found.push_back(change_by_rounding(under_test, call, options, exact, seed));
  }
  if (is_compared_with_itself(*under_test.key().spec)) {
    const double share =
        std::max(kOfOneKernel, kOfEachElement * static_cast<double>(largest_size(under_test, exact)));
    found.push_back(largest_of_each(exact));
    for (at::Tensor& tensor : found.back()) {
      if (has_magnitude(tensor)) tensor = tensor * share;
    }
  }
  return largest_magnitudes(found);
}

}  // namespace opgate
