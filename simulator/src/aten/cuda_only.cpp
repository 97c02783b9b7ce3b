#include "aten/cuda_only.h"

#include <ATen/Functions.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace opgate::simulator::aten {
namespace {

using at::Scalar;
using at::ScalarType;
using at::Tensor;

// The rival of cuDNN for depthwise convolutions. The CPU's convolution computes the same.
Tensor depthwise(const Tensor& self, const Tensor& weight, at::IntArrayRef /*kernel_size*/,
                 const std::optional<Tensor>& bias, at::IntArrayRef stride, at::IntArrayRef padding,
                 at::IntArrayRef dilation) {
  const std::vector<int64_t> none(stride.size(), 0);
  return at::convolution(self, weight, bias, stride, padding, dilation, /*transposed=*/false, none,
                         self.size(1));
}

// Products of numbers of 16 bits whose sums, in float, are not rounded to 16 bits.
Tensor mm(const Tensor& self, const Tensor& other, ScalarType type) {
  return at::mm(self.to(type), other.to(type));
}
Tensor bmm(const Tensor& self, const Tensor& other, ScalarType type) {
  return at::bmm(self.to(type), other.to(type));
}
Tensor addmm(const Tensor& self, const Tensor& first, const Tensor& second, ScalarType type,
             const Scalar& beta, const Scalar& alpha) {
  return at::addmm(self.to(type), first.to(type), second.to(type), beta, alpha);
}
Tensor baddbmm(const Tensor& self, const Tensor& first, const Tensor& second, ScalarType type,
               const Scalar& beta, const Scalar& alpha) {
  return at::baddbmm(self.to(type), first.to(type), second.to(type), beta, alpha);
}

Tensor& mm_out(const Tensor& self, const Tensor& other, ScalarType type, Tensor& out) {
  return at::mm_out(out, self.to(type), other.to(type));
}
Tensor& bmm_out(const Tensor& self, const Tensor& other, ScalarType type, Tensor& out) {
  return at::bmm_out(out, self.to(type), other.to(type));
}
Tensor& addmm_out(const Tensor& self, const Tensor& first, const Tensor& second, ScalarType type,
                  const Scalar& beta, const Scalar& alpha, Tensor& out) {
  return at::addmm_out(out, self.to(type), first.to(type), second.to(type), beta, alpha);
}
Tensor& baddbmm_out(const Tensor& self, const Tensor& first, const Tensor& second, ScalarType type,
                    const Scalar& beta, const Scalar& alpha, Tensor& out) {
  return at::baddbmm_out(out, self.to(type), first.to(type), second.to(type), beta, alpha);
}

constexpr std::array kNames{
    std::string_view("aten::_conv_depthwise2d"), std::string_view("aten::conv_depthwise3d"),
    std::string_view("aten::mm.dtype"),          std::string_view("aten::mm.dtype_out"),
    std::string_view("aten::bmm.dtype"),         std::string_view("aten::bmm.dtype_out"),
    std::string_view("aten::addmm.dtype"),       std::string_view("aten::addmm.dtype_out"),
    std::string_view("aten::baddbmm.dtype"),     std::string_view("aten::baddbmm.dtype_out"),
};

}  // namespace

bool is_cuda_only(const std::string& operator_and_overload) {
  return std::ranges::find(kNames, operator_and_overload) != kNames.end();
}

void implement_cuda_only(torch::Library& library) {
  library.impl("_conv_depthwise2d", &depthwise);
  library.impl("conv_depthwise3d", &depthwise);
  library.impl("mm.dtype", &mm);
  library.impl("mm.dtype_out", &mm_out);
  library.impl("bmm.dtype", &bmm);
  library.impl("bmm.dtype_out", &bmm_out);
  library.impl("addmm.dtype", &addmm);
  library.impl("addmm.dtype_out", &addmm_out);
  library.impl("baddbmm.dtype", &baddbmm);
  library.impl("baddbmm.dtype_out", &baddbmm_out);
}

}  // namespace opgate::simulator::aten
