#include "aten/in_float.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "aten/tensors_of_value.h"

namespace opgate::simulator::aten {
namespace {

// Found by calling each operator that torch has samples for in bfloat16 and in float: those for which the
// results differ by more than a rounding, and whose CUDA kernel computes in float (`acc_type`,
// `opmath_type`). Softmax is among them because that of the CPU refuses to convert half to float.
constexpr std::array kComputedInFloat{
    std::string_view("aten::_adaptive_avg_pool3d"),
    std::string_view("aten::_log_softmax"),
    std::string_view("aten::_native_batch_norm_legit"),
    std::string_view("aten::_softmax"),
    std::string_view("aten::add"),  // `alpha` is not rounded
    std::string_view("aten::add_"),
    std::string_view("aten::avg_pool2d_backward"),
    std::string_view("aten::embedding_dense_backward"),
    std::string_view("aten::grid_sampler_2d"),
    std::string_view("aten::grid_sampler_3d"),
    std::string_view("aten::logit"),
    std::string_view("aten::native_batch_norm"),
    std::string_view("aten::prod"),
    std::string_view("aten::rsub"),
    std::string_view("aten::sub"),
    std::string_view("aten::sub_"),
    std::string_view("aten::upsample_bicubic2d"),
    std::string_view("aten::upsample_bilinear2d"),
    std::string_view("aten::upsample_linear1d"),
    std::string_view("aten::upsample_trilinear3d"),
};

bool is_alpha_one(const c10::Argument& argument, const c10::IValue& value) {
  return argument.name() == "alpha" && value.isScalar() && value.toScalar().toDouble() == 1;
}

// The type of 16 bits that all of them have; undefined if there is none, or several.
at::ScalarType type_of_16_bits(const c10::IValue* arguments, std::size_t count) {
  at::ScalarType found = at::ScalarType::Undefined;
  bool is_one = true;
  for (std::size_t i = 0; i < count; ++i) {
    for_each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      if (!tensor.is_floating_point() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) return;
      if (found == at::ScalarType::Undefined) found = tensor.scalar_type();
      is_one = is_one && tensor.scalar_type() == found;
    });
  }
  const bool has_16_bits = found == at::ScalarType::Half || found == at::ScalarType::BFloat16;
  return is_one && has_16_bits ? found : at::ScalarType::Undefined;
}

}  // namespace

InFloat::InFloat(const c10::OperatorHandle& op, torch::jit::Stack& stack, std::size_t count) {
  if (std::ranges::find(kComputedInFloat, op.operator_name().name) == kComputedInFloat.end()) return;
  c10::IValue* const arguments = &stack[stack.size() - count];
  const auto& declared = op.schema().arguments();
  for (std::size_t i = 0; i < count; ++i)
    if (is_alpha_one(declared[i], arguments[i])) return;
  type_ = type_of_16_bits(arguments, count);
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
  for (std::size_t i = stack.size() - count; i < stack.size(); ++i) {
    stack[i] = with_tensors(stack[i], [&](const at::Tensor& result) {
      for (const auto& [argument, converted] : written_)
        if (converted.is_same(result)) return argument;
      return result.is_floating_point() ? result.to(type_) : result;
    });
  }
}

}  // namespace opgate::simulator::aten
