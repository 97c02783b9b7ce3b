// IdentityConv is identity_conv as a TorchBind class: a layer with a fixed number of channels.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/custom_class.h>

#include <cstdint>
#include <string>
#include <tuple>

namespace opgate_ops {

class IdentityConv : public torch::CustomClassHolder {
 public:
  // The result of __obj_flatten__: one (name, value) pair for each constructor argument.
  using Flattened = std::tuple<std::tuple<std::string, int64_t>>;

  // Throws c10::Error unless channels >= 1.
  explicit IdentityConv(int64_t channels);

  // Applies the operator to x, an image [C, H, W] or a batch [N, C, H, W] with C == channels. Throws
  // c10::Error for any other shape, and for dtypes that the operator refuses.
  at::Tensor forward(const at::Tensor& x) const;

  int64_t channels() const { return channels_; }
  Flattened flatten() const { return {{"channels", channels_}}; }

 private:
  int64_t channels_;
};

}  // namespace opgate_ops
