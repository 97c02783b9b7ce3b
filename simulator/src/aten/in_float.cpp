#include "aten/in_float.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "aten/tensors_of_value.h"

namespace opgate::simulator::aten {
namespace {

constexpr std::size_t kAll = 100;

struct Row {
  std::string_view name;
  std::size_t rounded = kAll;  // so many results are rounded, and statistics after them stay float
};

// Found by calling each operator that torch has samples for in bfloat16 and in float: those for which the
// results differ by more than a rounding, and whose CUDA kernel computes in float (`acc_type`,
// `opmath_type`). Softmax is among them because that of the CPU refuses to convert half to float, and the
// gradient of layer_norm because there it refuses statistics in float, which CUDA's layer_norm gives.
constexpr std::array kComputedInFloat{
    Row{"aten::_adaptive_avg_pool3d"},
    Row{"aten::_log_softmax"},
    Row{"aten::_native_batch_norm_legit"},
    Row{"aten::_softmax"},
    Row{"aten::add"},  // `alpha` is not rounded
    Row{"aten::add_"},
    Row{"aten::avg_pool2d_backward"},
    Row{"aten::embedding_dense_backward"},
    Row{"aten::grid_sampler_2d"},
    Row{"aten::grid_sampler_3d"},
    Row{"aten::logit"},
    Row{"aten::native_batch_norm"},
    Row{"aten::native_layer_norm", 1},
    Row{"aten::native_layer_norm_backward"},
    Row{"aten::prod"},
    Row{"aten::rsub"},
    Row{"aten::sub"},
    Row{"aten::sub_"},
    Row{"aten::upsample_bicubic2d"},
    Row{"aten::upsample_bilinear2d"},
    Row{"aten::upsample_linear1d"},
    Row{"aten::upsample_trilinear3d"},
};

bool is_statistic(const c10::Argument& argument) {
  return argument.name() == "mean" || argument.name() == "rstd";
}

bool is_alpha_one(const c10::Argument& argument, const c10::IValue& value) {
  return argument.name() == "alpha" && value.isScalar() && value.toScalar().toDouble() == 1;
}

// The type of 16 bits that all of them but statistics have; undefined if there is none, or several.
at::ScalarType type_of_16_bits(const std::vector<c10::Argument>& declared, const c10::IValue* arguments) {
  at::ScalarType found = at::ScalarType::Undefined;
  bool is_one = true;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (is_statistic(declared[i])) continue;
    for_each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return;
      is_one = is_one && !tensor.is_complex();
      if (!tensor.is_floating_point()) return;
      if (found == at::ScalarType::Undefined) found = tensor.scalar_type();
      is_one = is_one && tensor.scalar_type() == found;
    });
  }
  const bool has_16_bits = found == at::ScalarType::Half || found == at::ScalarType::BFloat16;
  return is_one && has_16_bits ? found : at::ScalarType::Undefined;
}

}  // namespace

InFloat::InFloat(const c10::OperatorHandle& op, torch::jit::Stack& stack, std::size_t count) {
  const auto* const row = std::ranges::find(kComputedInFloat, op.operator_name().name, &Row::name);
  if (row == kComputedInFloat.end()) return;
  rounded_ = row->rounded;
  c10::IValue* const arguments = &stack[stack.size() - count];
  const auto& declared = op.schema().arguments();
  for (std::size_t i = 0; i < count; ++i)
    if (is_alpha_one(declared[i], arguments[i])) return;
  type_ = type_of_16_bits(declared, arguments);
  if (type_ == at::ScalarType::Undefined) return;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const alias = declared[i].alias_info();
    // The schema of batch_norm does not say that these are written.
    const bool is_written =
        (alias != nullptr && alias->isWrite()) || declared[i].name().starts_with("running_");
    arguments[i] = with_tensors(arguments[i], [&](const at::Tensor& tensor) {
      if (tensor.scalar_type() != type_) return tensor;
      at::Tensor converted = tensor.to(at::kFloat);
      if (is_written) written_.emplace_back(tensor, converted);
      return converted;
    });
    if (declared[i].name() == "half_to_float" && arguments[i].toBool()) {
      arguments[i] = false;
      type_ = at::kFloat;
    }
    if (declared[i].name() == "dtype" && arguments[i].isInt()) type_ = arguments[i].toScalarType();
  }
}

void InFloat::round_results(torch::jit::Stack& stack, std::size_t count) const {
  for (const auto& [argument, converted] : written_) {
    if (argument.sizes() != converted.sizes()) argument.resize_(converted.sizes());
    argument.copy_(converted);
  }
  if (type_ == at::ScalarType::Undefined) return;
  const std::size_t first = stack.size() - count;
  for (std::size_t i = first; i < stack.size() && i - first < rounded_; ++i) {
    stack[i] = with_tensors(stack[i], [&](const at::Tensor& result) {
      for (const auto& [argument, converted] : written_)
        if (converted.is_same(result)) return argument;
      return result.is_floating_point() ? result.to(type_) : result;
    });
  }
}

}  // namespace opgate::simulator::aten
