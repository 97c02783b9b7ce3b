// IdentityConv: identity_conv as a TorchBind class, a layer that knows its number of channels.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/custom_class.h>

#include <cstdint>
#include <string>
#include <tuple>

namespace opgate_ops {

class IdentityConv : public torch::CustomClassHolder {
 public:
  // What __obj_flatten__ gives: one (name, value) pair per constructor argument.
  using Flattened = std::tuple<std::tuple<std::string, int64_t>>;

  // Raises unless channels >= 1.
  explicit IdentityConv(int64_t channels);

  // The op applied to x, an image [C, H, W] or a batch [N, C, H, W] with C == channels. Raises on
  // any other shape, and on the dtypes that the op refuses.
  at::Tensor forward(const at::Tensor& x) const;

  int64_t channels() const { return channels_; }
  Flattened flatten() const { return {{"channels", channels_}}; }

 private:
  int64_t channels_;
};

}  // namespace opgate_ops
