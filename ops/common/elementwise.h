// Elementwise kernels on the CPU: they apply a function of one element to tensors of any strides.
#pragma once

#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "multiversion.h"

namespace opgate_ops {

// Fewer elements than this are not worth a second thread. PyTorch's own elementwise kernels use the same
// number.
inline constexpr int64_t kGrain = 32768;

/// out[i] = function(in[i]...) for contiguous elements. `function` takes and returns the type in which
/// scalar_t is computed.
template <typename scalar_t, class Function, class... In>
OPGATE_OPS_MULTIVERSION void map_dense(const Function& function, int64_t count, scalar_t* __restrict out,
                                       const In* __restrict... in) {
  using opmath_t = at::opmath_type<scalar_t>;
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<scalar_t>(function(static_cast<opmath_t>(in[i])...));
}

/// The same for elements that are strides[operand] bytes apart; out's stride comes first.
template <typename scalar_t, class Function, size_t... operand>
OPGATE_OPS_MULTIVERSION void map_strided(const Function& function, int64_t count, char* const* data,
                                         const int64_t* strides, std::index_sequence<operand...>) {
  using opmath_t = at::opmath_type<scalar_t>;
  for (int64_t i = 0; i < count; ++i) {
    *reinterpret_cast<scalar_t*>(data[0] + i * strides[0]) =
        static_cast<scalar_t>(function(static_cast<opmath_t>(
            *reinterpret_cast<const scalar_t*>(data[operand + 1] + i * strides[operand + 1]))...));
  }
}

// An input that does not change along a row is repeated so many times, for the loop over dense elements to
// read it.
inline constexpr int64_t kRepeated = 256;

/// Whether the loop over dense elements can compute a row with these strides in bytes; out's comes first.
inline bool is_dense_row(const int64_t* strides, size_t operands, int64_t element) {
  return strides[0] == element && std::all_of(strides + 1, strides + operands, [&](int64_t stride) {
           return stride == element || stride == 0;
         });
}

/// Whether all tensors have the dtype, the sizes and the strides of out, which has no gaps: then the elements
/// lie in memory in the same order.
template <class... Inputs>
bool is_one_row(const at::Tensor& out, const Inputs&... inputs) {
  return out.is_non_overlapping_and_dense() &&
         ((inputs.scalar_type() == out.scalar_type() && inputs.sizes() == out.sizes() &&
           inputs.strides() == out.strides()) &&
          ...);
}

/// out = function(inputs...), element by element. The inputs broadcast to out's sizes, and TensorIterator
/// casts them to their common dtype, which must be out's, scalar_t. out is not resized, and must overlap no
/// input. Tensors that are one row go without TensorIterator, because setting it up takes as long as some
/// thousand sums.
template <typename scalar_t, class Function, class... Inputs>
void elementwise(at::Tensor& out, const Function& function, const Inputs&... inputs) {
  constexpr auto each_input = std::index_sequence_for<Inputs...>{};
  constexpr size_t operands = sizeof...(Inputs) + 1;
  if (is_one_row(out, inputs...)) {
    const auto map = [&](void* to, const auto*... from) {
      at::parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
        map_dense<scalar_t>(function, end - begin, static_cast<scalar_t*>(to) + begin,
                            static_cast<const scalar_t*>(from) + begin...);
      });
    };
    map(out.mutable_data_ptr(), inputs.const_data_ptr()...);
    return;
  }
  const auto row = [&]<size_t... i>(char* const* data, const int64_t* strides, int64_t count,
                                    std::index_sequence<i...>) {
    if (!is_dense_row(strides, operands, sizeof(scalar_t))) {
      map_strided<scalar_t>(function, count, data, strides, each_input);
      return;
    }
    std::array<std::array<scalar_t, kRepeated>, operands> repeated;
    int64_t strip = count;
    for (size_t operand = 1; operand < operands; ++operand) {
      if (strides[operand] != 0) continue;
      strip = kRepeated;
      std::fill_n(repeated[operand].begin(), std::min(strip, count),
                  *reinterpret_cast<const scalar_t*>(data[operand]));
    }
    const auto input = [&](size_t operand, int64_t first) {
      return strides[operand] == 0 ? repeated[operand].data()
                                   : reinterpret_cast<const scalar_t*>(data[operand]) + first;
    };
    for (int64_t first = 0; first < count; first += strip)
      map_dense<scalar_t>(function, std::min(strip, count - first),
                          reinterpret_cast<scalar_t*>(data[0]) + first, input(i + 1, first)...);
  };
  at::TensorIteratorConfig config;
  config.add_output(out).resize_outputs(false).set_check_mem_overlap(false);
  config.promote_inputs_to_common_dtype(true);
  (config.add_const_input(inputs), ...);
  at::TensorIterator iterator = config.build();
  // TensorIterator has put the dimension with the smallest strides first and joined those that lie end to
  // end.
  iterator.for_each(
      [&](char** base, const int64_t* strides, int64_t count, int64_t rows) {
        std::array<char*, operands> data;
        for (int64_t r = 0; r < rows; ++r) {
          for (size_t i = 0; i < operands; ++i) data[i] = base[i] + r * strides[operands + i];
          row(data.data(), strides, count, each_input);
        }
      },
      kGrain);
}

}  // namespace opgate_ops
