// layer_norm and its derivative on the CPU. A row is read several times, but only once from memory, then
// from cache.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>
#include <type_traits>
#include <vector>

#include "../common/lanes.h"
#include "../common/multiversion.h"
#include "layer_norm.h"

namespace opgate_ops {
namespace {

// Fewer elements than this are not worth a second thread.
constexpr int64_t kGrainElements = 16384;
// For the gradients of weight and bias, this many rows are added in the type of the statistics, and then in
// double.
constexpr int64_t kRowsAdded = 64;
// This many rows are added to those sums at once.
constexpr int kRowsTogether = 4;
// Rows are divided into at most this many blocks, independent of the number of threads, so that the bits of
// the results do not depend on it.
constexpr int64_t kMaxBlocks = 64;

int64_t rows_of(const at::Tensor& input) { return input.size(-1) == 0 ? 0 : input.numel() / input.size(-1); }

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

// Computes some rows of the derivative. With y = (x - mean) rstd and h = grad * weight, d input = rstd (h -
// mean(h) - y mean(h y)). grad y is added to `to_weight`, and grad to `to_bias`. `scratch` holds 2 rows for
// each of the rows.
template <int rows, typename scalar_t, typename acc_t>
inline void backward_together(int64_t columns, double eps, const scalar_t* grad, const scalar_t* input,
                              const acc_t* __restrict weight, acc_t* scratch, scalar_t* __restrict d_input,
                              acc_t* __restrict to_weight, acc_t* __restrict to_bias) {
  const acc_t* x = widened(input, rows * columns, scratch);
  const acc_t* g = widened(grad, rows * columns, scratch + rows * columns);
  acc_t mean[rows], rstd[rows], mean_h[rows], mean_hy[rows];
  const auto y = [&](int r, int64_t c) { return (x[r * columns + c] - mean[r]) * rstd[r]; };
  for (int r = 0; r < rows; ++r) {
    const Statistics<acc_t> found = statistics(x + r * columns, columns, eps);
    mean[r] = found.mean;
    rstd[r] = found.rstd;
    const auto [sum_h, sum_hy] = sums_of<acc_t, 2>(columns, [&](int64_t c) {
      const acc_t h = g[r * columns + c] * weight[c];
      return std::array{h, h * y(r, c)};
    });
    mean_h[r] = static_cast<acc_t>(sum_h / columns);
    mean_hy[r] = static_cast<acc_t>(sum_hy / columns);
  }
  for (int64_t c = 0; c < columns; ++c) {
    acc_t weights = to_weight[c], biases = to_bias[c];
    for (int r = 0; r < rows; ++r) {
      const acc_t here = g[r * columns + c], y_here = y(r, c);
      d_input[r * columns + c] =
          static_cast<scalar_t>(rstd[r] * (here * weight[c] - mean_h[r] - y_here * mean_hy[r]));
      weights += here * y_here;
      biases += here;
    }
    to_weight[c] = weights;
    to_bias[c] = biases;
  }
}

// Computes the rows [begin, end) and adds the sums over them to the doubles.
template <typename scalar_t, typename acc_t>
OPGATE_OPS_MULTIVERSION void backward_rows(int64_t begin, int64_t end, int64_t columns, double eps,
                                           const scalar_t* grad, const scalar_t* input, const acc_t* weight,
                                           acc_t* scratch, scalar_t* d_input, double* __restrict d_weight,
                                           double* __restrict d_bias) {
  acc_t* some_weight = scratch + 2 * kRowsTogether * columns;
  acc_t* some_bias = some_weight + columns;
  const auto rows_from = [&]<int rows>(std::integral_constant<int, rows>, int64_t r) {
    backward_together<rows>(columns, eps, grad + r * columns, input + r * columns, weight, scratch,
                            d_input + r * columns, some_weight, some_bias);
  };
  for (int64_t first = begin; first < end; first += kRowsAdded) {
    std::fill_n(some_weight, 2 * columns, acc_t(0));
    const int64_t last = std::min(first + kRowsAdded, end);
    int64_t r = first;
    for (; r + kRowsTogether <= last; r += kRowsTogether)
      rows_from(std::integral_constant<int, kRowsTogether>(), r);
    for (; r < last; ++r) rows_from(std::integral_constant<int, 1>(), r);
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
                       std::vector<acc_t> scratch(static_cast<size_t>((2 * kRowsTogether + 2) * columns));
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
