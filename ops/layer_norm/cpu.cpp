// layer_norm and its derivative on the CPU. A row is read several times, but only once from memory, then
// from cache.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

#include "../common/lanes.h"
#include "../common/multiversion.h"
#include "layer_norm.h"

namespace opgate_ops {
namespace {

// Fewer elements than this are not worth a second thread.
constexpr int64_t kGrainElements = 8192;
// For the gradients of weight and bias, this many rows are added in the type of the statistics, and then in
// double.
constexpr int64_t kRowsAdded = 64;
// Rows are divided into at most this many blocks, independent of the number of threads, so that the bits of
// the results do not depend on it.
constexpr int64_t kMaxBlocks = 64;

/// Asks for the first 512 bytes of the next row. The processor prefetches the rest itself, but not across the
/// bounds of a 4 KiB page, which is where a row of 1024 floats begins.
inline void prefetch_begin(const void* next_row) {
  for (int line = 0; line < 8; ++line) __builtin_prefetch(static_cast<const char*>(next_row) + 64 * line);
}

/// The row in the type that is used for computing: in place, or converted to `scratch`.
template <typename acc_t, typename scalar_t>
inline const acc_t* widened(const scalar_t* row, int64_t columns, acc_t* scratch) {
  if constexpr (std::is_same_v<acc_t, scalar_t>) {
    return row;
  } else {
    for (int64_t c = 0; c < columns; ++c) scratch[c] = static_cast<acc_t>(row[c]);
    return scratch;
  }
}

template <typename acc_t>
struct Statistics {
  acc_t mean, rstd;
};

// The variance takes a second pass, because the mean of squares minus the square of the mean would cancel.
// That pass also finds by how much the first one's sum was rounded (Chan, Golub and LeVeque, Algorithms for
// Computing the Sample Variance, 1983), so that the mean of equal numbers is that number, and their variance
// 0.
template <typename acc_t>
inline Statistics<acc_t> statistics(const acc_t* row, int64_t columns, double eps) {
  const auto about = static_cast<acc_t>(sum_of<acc_t>(columns, [&](int64_t c) { return row[c]; }) / columns);
  const auto [rest, squares] = sums_of<acc_t, 2>(columns, [&](int64_t c) {
    const acc_t distance = row[c] - about;
    return std::array{distance, distance * distance};
  });
  const double correction = rest / columns, variance = squares / columns - correction * correction;
  // The mean of numbers with inf is inf, although their distances from it are NaN.
  const double mean = std::isfinite(correction) ? about + correction : about;
  return {static_cast<acc_t>(mean), static_cast<acc_t>(1 / std::sqrt((variance < 0 ? 0 : variance) + eps))};
}

/// Where the results of a forward go.
template <typename scalar_t, typename acc_t>
struct Normalised {
  scalar_t* out;
  acc_t *mean, *rstd;
};

template <typename scalar_t, typename acc_t>
OPGATE_OPS_MULTIVERSION void forward_rows(int64_t begin, int64_t end, int64_t columns, double eps,
                                          const scalar_t* input, const acc_t* __restrict weight,
                                          const acc_t* __restrict bias, acc_t* scratch,
                                          const Normalised<scalar_t, acc_t>& results) {
  for (int64_t r = begin; r < end; ++r) {
    const acc_t* row = widened(input + r * columns, columns, scratch);
    const auto [mean, rstd] = statistics(row, columns, eps);
    if (r + 1 < end) prefetch_begin(input + (r + 1) * columns);
    results.mean[r] = mean;
    results.rstd[r] = rstd;
    scalar_t* __restrict to = results.out + r * columns;
    for (int64_t c = 0; c < columns; ++c)
      to[c] = static_cast<scalar_t>(std::fma((row[c] - mean) * rstd, weight[c], bias[c]));
  }
}

/// What a backward reads.
template <typename scalar_t, typename acc_t>
struct Saved {
  const scalar_t *grad, *input;
  const acc_t *mean, *rstd, *weight;
};

// Computes row r, whose grad is g. With y = (x - mean) rstd and h = g * weight, the derivative is rstd (h -
// mean(h) - y mean(h y)). g y is added to `to_weight`, and g to `to_bias`. The first pass reads the row from
// memory, the others from cache. The result is written by the last one, so that the next row is read while
// those writes are still under way.
template <typename scalar_t, typename acc_t>
inline void backward_row(int64_t r, int64_t columns, const Saved<scalar_t, acc_t>& saved, acc_t* scratch,
                         scalar_t* d_input, acc_t* __restrict to_weight, acc_t* __restrict to_bias) {
  const acc_t* x = widened(saved.input + r * columns, columns, scratch);
  const acc_t* g = widened(saved.grad + r * columns, columns, scratch + columns);
  const acc_t* __restrict weight = saved.weight;
  const acc_t mean = saved.mean[r], rstd = saved.rstd[r];
  const auto y = [&](int64_t c) { return (x[c] - mean) * rstd; };
  const auto [sum_h, sum_hy] = sums_of<acc_t, 2>(columns, [&](int64_t c) {
    const acc_t h = g[c] * weight[c];
    return std::array{h, h * y(c)};
  });
  for (int64_t c = 0; c < columns; ++c) {
    to_weight[c] = std::fma(g[c], y(c), to_weight[c]);
    to_bias[c] += g[c];
  }
  const auto mean_h = static_cast<acc_t>(sum_h / columns), mean_hy = static_cast<acc_t>(sum_hy / columns);
  scalar_t* __restrict to = d_input + r * columns;
  for (int64_t c = 0; c < columns; ++c)
    to[c] = static_cast<scalar_t>(rstd * std::fma(-y(c), mean_hy, g[c] * weight[c] - mean_h));
}

// Computes the rows [begin, end) and adds the sums over them to the doubles. `scratch` holds 4 rows.
template <typename scalar_t, typename acc_t>
OPGATE_OPS_MULTIVERSION void backward_rows(int64_t begin, int64_t end, int64_t columns,
                                           const Saved<scalar_t, acc_t>& saved, acc_t* scratch,
                                           scalar_t* d_input, double* __restrict d_weight,
                                           double* __restrict d_bias) {
  acc_t *some_weight = scratch + 2 * columns, *some_bias = scratch + 3 * columns;
  for (int64_t first = begin; first < end; first += kRowsAdded) {
    std::fill_n(some_weight, 2 * columns, acc_t(0));
    for (int64_t r = first; r < std::min(first + kRowsAdded, end); ++r)
      backward_row(r, columns, saved, scratch, d_input, some_weight, some_bias);
    for (int64_t c = 0; c < columns; ++c) {
      d_weight[c] += some_weight[c];
      d_bias[c] += some_bias[c];
    }
  }
}

/// Adds up `blocks` rows of sums, in their order.
OPGATE_OPS_MULTIVERSION void add_blocks(int64_t blocks, int64_t sums, double* __restrict totals) {
  for (int64_t block = 1; block < blocks; ++block) {
    const double* from = totals + block * sums;
    for (int64_t i = 0; i < sums; ++i) totals[i] += from[i];
  }
}

/// The tensor, contiguous and of this dtype; mostly it is so already.
at::Tensor dense(const at::Tensor& tensor, at::ScalarType dtype) {
  return (tensor.scalar_type() == dtype ? tensor : tensor.to(dtype)).contiguous();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_with_statistics_cpu(const at::Tensor& input,
                                                                              const at::Tensor& weight,
                                                                              const at::Tensor& bias,
                                                                              double eps) {
  check_layer_norm(input, weight, bias, eps);
  auto results = empty_with_statistics(input);
  auto& [out, mean, rstd] = results;
  const int64_t columns = input.size(-1);
  if (columns == 0) {  // there may be rows all the same, and the mean of no numbers is none
    mean.fill_(std::numeric_limits<double>::quiet_NaN());
    rstd.fill_(std::numeric_limits<double>::quiet_NaN());
    return results;
  }
  const at::Tensor x = input.contiguous(), weights = dense(weight, mean.scalar_type()),
                   biases = dense(bias, mean.scalar_type());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "layer_norm", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const auto* from = x.const_data_ptr<scalar_t>();
    const auto *w = weights.const_data_ptr<acc_t>(), *b = biases.const_data_ptr<acc_t>();
    const Normalised<scalar_t, acc_t> to{out.mutable_data_ptr<scalar_t>(), mean.mutable_data_ptr<acc_t>(),
                                         rstd.mutable_data_ptr<acc_t>()};
    at::parallel_for(0, mean.numel(), kGrainElements / columns + 1, [&](int64_t begin, int64_t end) {
      std::vector<acc_t> scratch(std::is_same_v<acc_t, scalar_t> ? 0 : columns);
      forward_rows(begin, end, columns, eps, from, w, b, scratch.data(), to);
    });
  });
  return results;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward_cpu(const at::Tensor& grad,
                                                                       const at::Tensor& input,
                                                                       const at::Tensor& mean,
                                                                       const at::Tensor& rstd,
                                                                       const at::Tensor& weight) {
  check_layer_norm_backward(grad, input, mean, rstd, weight);
  auto results = empty_gradients(input, weight);
  auto& [d_input, d_weight, d_bias] = results;
  const int64_t columns = input.size(-1), rows = mean.numel();
  const int64_t block_rows = std::max(at::divup(rows, kMaxBlocks), kRowsAdded);
  const int64_t blocks = at::divup(rows, block_rows);
  const at::ScalarType acc = statistics_dtype(input.scalar_type());
  const at::Tensor x = input.contiguous(), g = grad.contiguous(), means = dense(mean, acc),
                   rstds = dense(rstd, acc), weights = dense(weight, acc);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "layer_norm_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const Saved<scalar_t, acc_t> saved{g.const_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(),
                                       means.const_data_ptr<acc_t>(), rstds.const_data_ptr<acc_t>(),
                                       weights.const_data_ptr<acc_t>()};
    auto* to = d_input.mutable_data_ptr<scalar_t>();
    // For each block, for weight and for bias.
    std::vector<double> sums(static_cast<size_t>(std::max<int64_t>(blocks, 1) * 2 * columns));
    at::parallel_for(0, blocks, kGrainElements / std::max<int64_t>(block_rows * columns, 1) + 1,
                     [&](int64_t begin, int64_t end) {
                       std::vector<acc_t> scratch(static_cast<size_t>(4 * columns));
                       for (int64_t block = begin; block < end; ++block) {
                         double* sum = sums.data() + block * 2 * columns;
                         backward_rows(block * block_rows, std::min((block + 1) * block_rows, rows), columns,
                                       saved, scratch.data(), to, sum, sum + columns);
                       }
                     });
    add_blocks(blocks, 2 * columns, sums.data());
    std::copy_n(sums.data(), columns, d_weight.mutable_data_ptr<scalar_t>());
    std::copy_n(sums.data() + columns, columns, d_bias.mutable_data_ptr<scalar_t>());
  });
  return results;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) {
  m.impl("layer_norm_with_statistics", &opgate_ops::layer_norm_with_statistics_cpu);
  m.impl("layer_norm_backward", &opgate_ops::layer_norm_backward_cpu);
}
