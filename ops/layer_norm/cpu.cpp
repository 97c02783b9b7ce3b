// layer_norm and its derivative on the CPU. A row is read several times, but from memory once.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <vector>

#include "../common/lanes.h"
#include "../common/multiversion.h"
#include "layer_norm.h"

namespace opgate_ops {
namespace {

// Fewer elements than this are not worth a second thread.
constexpr int64_t kGrainElements = 16384;
// Gradients of weight and bias: so many rows are added up in the type of the statistics, and then in double.
constexpr int64_t kRowsAdded = 64;
// Rows are divided into at most so many blocks, whatever the number of threads, so that bits do not depend on
// it.
constexpr int64_t kMaxBlocks = 64;

int64_t rows_of(const at::Tensor& input) { return input.size(-1) == 0 ? 0 : input.numel() / input.size(-1); }

/// The row in the type that is computed in: where it is, or copied to `scratch`.
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

// In two passes: the mean of squares minus the square of the mean would cancel.
template <typename acc_t>
inline Statistics<acc_t> statistics(const acc_t* row, int64_t columns, double eps) {
  const auto mean = static_cast<acc_t>(sum_of<acc_t>(columns, [&](int64_t c) { return row[c]; }) / columns);
  const double squares = sum_of<acc_t>(columns, [&](int64_t c) { return (row[c] - mean) * (row[c] - mean); });
  return {mean, static_cast<acc_t>(1 / std::sqrt(squares / columns + eps))};
}

template <typename scalar_t, typename acc_t>
OPGATE_OPS_MULTIVERSION void forward_rows(int64_t begin, int64_t end, int64_t columns, double eps,
                                          const scalar_t* input, const acc_t* __restrict weight,
                                          const acc_t* __restrict bias, acc_t* scratch, scalar_t* out) {
  for (int64_t r = begin; r < end; ++r) {
    const acc_t* row = widened(input + r * columns, columns, scratch);
    const auto [mean, rstd] = statistics(row, columns, eps);
    scalar_t* __restrict to = out + r * columns;
    for (int64_t c = 0; c < columns; ++c)
      to[c] = static_cast<scalar_t>(std::fma((row[c] - mean) * rstd, weight[c], bias[c]));
  }
}

// With y = (x - mean) rstd and h = grad * weight: d input = rstd (h - mean(h) - y mean(h y)), d weight = sum
// of grad y, d bias = sum of grad; the sums over the rows [begin, end) are added to the doubles.
template <typename scalar_t, typename acc_t>
OPGATE_OPS_MULTIVERSION void backward_rows(int64_t begin, int64_t end, int64_t columns, double eps,
                                           const scalar_t* grad, const scalar_t* input,
                                           const acc_t* __restrict weight, acc_t* scratch, scalar_t* d_input,
                                           double* __restrict d_weight, double* __restrict d_bias) {
  acc_t* __restrict some_weight = scratch + 2 * columns;
  acc_t* __restrict some_bias = scratch + 3 * columns;
  for (int64_t first = begin; first < end; first += kRowsAdded) {
    std::fill_n(some_weight, 2 * columns, acc_t(0));
    for (int64_t r = first; r < std::min(first + kRowsAdded, end); ++r) {
      const acc_t* row = widened(input + r * columns, columns, scratch);
      const acc_t* g = widened(grad + r * columns, columns, scratch + columns);
      const auto [mean, rstd] = statistics(row, columns, eps);
      const auto h = [&](int64_t c) { return g[c] * weight[c]; };
      const auto y = [&](int64_t c) { return (row[c] - mean) * rstd; };
      const auto mean_h = static_cast<acc_t>(sum_of<acc_t>(columns, h) / columns);
      const auto mean_hy =
          static_cast<acc_t>(sum_of<acc_t>(columns, [&](int64_t c) { return h(c) * y(c); }) / columns);
      scalar_t* __restrict to = d_input + r * columns;
      for (int64_t c = 0; c < columns; ++c) {
        to[c] = static_cast<scalar_t>(rstd * (h(c) - mean_h - y(c) * mean_hy));
        some_weight[c] += g[c] * y(c);
        some_bias[c] += g[c];
      }
    }
    for (int64_t c = 0; c < columns; ++c) {
      d_weight[c] += some_weight[c];
      d_bias[c] += some_bias[c];
    }
  }
}

template <typename scalar_t, typename acc_t>
std::vector<acc_t> widened(const at::Tensor& vector) {
  const at::Tensor dense = vector.contiguous();
  const auto* data = dense.const_data_ptr<scalar_t>();
  return {data, data + dense.numel()};
}

at::Tensor layer_norm_cpu(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                          double eps) {
  check_layer_norm(input, weight, bias, eps);
  at::Tensor out = at::empty(input.sizes(), input.options());
  const int64_t columns = input.size(-1);
  const at::Tensor dense = input.contiguous();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "layer_norm", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const std::vector<acc_t> weights = widened<scalar_t, acc_t>(weight),
                             biases = widened<scalar_t, acc_t>(bias);
    const auto* from = dense.const_data_ptr<scalar_t>();
    auto* to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows_of(input), kGrainElements / std::max<int64_t>(columns, 1) + 1,
                     [&](int64_t begin, int64_t end) {
                       std::vector<acc_t> scratch(std::is_same_v<acc_t, scalar_t> ? 0 : columns);
                       forward_rows(begin, end, columns, eps, from, weights.data(), biases.data(),
                                    scratch.data(), to);
                     });
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward_cpu(const at::Tensor& grad,
                                                                       const at::Tensor& input,
                                                                       const at::Tensor& weight, double eps) {
  check_layer_norm_backward(grad, input, weight, eps);
  at::Tensor d_input = at::empty(input.sizes(), input.options());
  at::Tensor d_weight = at::empty(weight.sizes(), weight.options());
  at::Tensor d_bias = at::empty(weight.sizes(), weight.options());
  const int64_t columns = input.size(-1), rows = rows_of(input);
  const int64_t block_rows = std::max((rows + kMaxBlocks - 1) / kMaxBlocks, kRowsAdded);
  const int64_t blocks = (rows + block_rows - 1) / block_rows;
  const at::Tensor dense = input.contiguous(), dense_grad = grad.contiguous();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "layer_norm_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    const std::vector<acc_t> weights = widened<scalar_t, acc_t>(weight);
    std::vector<double> sums(
        static_cast<size_t>(blocks * 2 * columns));  // of each block, for weight and for bias
    const auto *g = dense_grad.const_data_ptr<scalar_t>(), *x = dense.const_data_ptr<scalar_t>();
    auto* to = d_input.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, blocks, kGrainElements / std::max<int64_t>(block_rows * columns, 1) + 1,
                     [&](int64_t begin, int64_t end) {
                       std::vector<acc_t> scratch(static_cast<size_t>(4 * columns));
                       for (int64_t block = begin; block < end; ++block) {
                         double* sum = sums.data() + block * 2 * columns;
                         backward_rows(block * block_rows, std::min((block + 1) * block_rows, rows), columns,
                                       eps, g, x, weights.data(), scratch.data(), to, sum, sum + columns);
                       }
                     });
    for (int64_t c = 0; c < columns; ++c) {
      double to_weight = 0, to_bias = 0;
      for (int64_t block = 0; block < blocks; ++block) {
        to_weight += sums[static_cast<size_t>(block * 2 * columns + c)];
        to_bias += sums[static_cast<size_t>(block * 2 * columns + columns + c)];
      }
      d_weight.mutable_data_ptr<scalar_t>()[c] = static_cast<scalar_t>(to_weight);
      d_bias.mutable_data_ptr<scalar_t>()[c] = static_cast<scalar_t>(to_bias);
    }
  });
  return {d_input, d_weight, d_bias};
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) {
  m.impl("layer_norm", &opgate_ops::layer_norm_cpu);
  m.impl("layer_norm_backward", &opgate_ops::layer_norm_backward_cpu);
}
