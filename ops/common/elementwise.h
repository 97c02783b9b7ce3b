// Elementwise kernels on the CPU: they apply a function of one element to tensors of any strides.
#pragma once

#include <ATen/OpMathType.h>
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

/// out = function(inputs...), element by element. All have the dtype scalar_t and broadcast to out's sizes.
/// out is not resized, and must overlap no input.
template <typename scalar_t, class Function, class... Inputs>
void elementwise(at::Tensor& out, const Function& function, const Inputs&... inputs) {
  constexpr auto each_input = std::index_sequence_for<Inputs...>{};
  constexpr size_t operands = sizeof...(Inputs) + 1;
  const auto row = [&]<size_t... i>(char* const* data, const int64_t* strides, int64_t count,
                                    std::index_sequence<i...>) {
    if (std::all_of(strides, strides + operands, [](int64_t stride) { return stride == sizeof(scalar_t); })) {
      map_dense<scalar_t>(function, count, reinterpret_cast<scalar_t*>(data[0]),
                          reinterpret_cast<const scalar_t*>(data[i + 1])...);
    } else {
      map_strided<scalar_t>(function, count, data, strides, each_input);
    }
  };
  at::TensorIteratorConfig config;
  config.add_output(out).resize_outputs(false).set_check_mem_overlap(false);
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
