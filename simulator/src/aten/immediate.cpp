#include "aten/immediate.h"

#include <ATen/Functions.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aten/device_memory.h"
#include "aten/generators.h"
#include "aten/in_float.h"
#include "aten/tensor_accesses.h"
#include "aten/tensors_of_value.h"

namespace opgate::simulator::aten {
namespace {

/// The tensors of a call on both devices. A tensor that occurs twice stays one tensor.
class Counterparts {
 public:
  at::Tensor on_host(const at::Tensor& tensor) {
    if (!tensor.is_cuda()) return tensor;
    for (const Pair& pair : pairs_) {
      if (pair.cuda.is_same(tensor)) return pair.cpu;
    }
    pairs_.push_back({tensor, alias_on_host(tensor)});
    return pairs_.back().cpu;
  }

  at::Tensor on_device(const at::Tensor& tensor) const {
    if (!tensor.device().is_cpu()) return tensor;
    for (const Pair& pair : pairs_) {
      if (pair.cpu.is_same(tensor)) return pair.cuda;
    }
    return copy_to_device(tensor);
  }

  // An operator resizes an `out` of other sizes than its result's. If the memory was too small, the result
  // lies in the CPU's, and its values are copied.
  void resize_outputs() const {
    for (const Pair& pair : pairs_) {
      if (pair.cpu.sizes() == pair.cuda.sizes()) continue;
      if (pair.cuda.numel() > 0 && pair.cpu.numel() <= pair.cuda.numel()) {
        pair.cuda.unsafeGetTensorImpl()->set_sizes_and_strides(pair.cpu.sizes(), pair.cpu.strides());
      } else {
        pair.cuda.set_(copy_to_device(pair.cpu));
      }
    }
  }

 private:
  struct Pair {
    at::Tensor cuda;
    at::Tensor cpu;
  };
  std::vector<Pair> pairs_;
};

c10::IValue on_host(const c10::IValue& value, const c10::Argument& argument, Counterparts& tensors,
                    c10::Device device) {
  if (argument.name() == "generator")
    return aten::on_host(value.isGenerator() ? value.toGenerator() : at::Generator(), device);
  if (value.isDevice() && value.toDevice().is_cuda()) return c10::Device(at::kCPU);
  return with_tensors(value, [&](const at::Tensor& tensor) { return tensors.on_host(tensor); });
}

c10::IValue on_device(const c10::IValue& value, const Counterparts& tensors) {
  return with_tensors(value, [&](const at::Tensor& tensor) { return tensors.on_device(tensor); });
}

// Without cuDNN, CUDA's kernels for convolutions make their arguments contiguous, and return such results.
// Those of the CPU would return what is channels-last if an argument is.
bool takes_contiguous(const c10::OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  return name == "aten::convolution" || name == "aten::convolution_backward";
}

// A copy between two devices waits for both.
void wait_for_streams(const c10::IValue* arguments, std::size_t count, c10::Device device) {
  c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
  for (const c10::Device other : other_devices(arguments, count, device))
    c10::cuda::getCurrentCUDAStream(other.index()).synchronize();
}

}  // namespace

void run_at_once(const c10::OperatorHandle& op, torch::jit::Stack& stack, c10::Device device) {
  const auto& schema = op.schema();
  const std::size_t count = schema.arguments().size();
  const std::size_t first = stack.size() - count;
  const torch::jit::Stack originals(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  wait_for_streams(originals.data(), count, device);
  TensorAccesses accesses(schema);
  accesses.reads_arguments(originals.data());
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const alias = schema.arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite() && originals[i].isTensor() && originals[i].toTensor().is_cuda())
      accesses.writes_argument(originals[i].toTensor());
  }
  note_accesses(schema.name(), accesses.all());
  Counterparts tensors;
  for (std::size_t i = 0; i < count; ++i)
    stack[first + i] = on_host(originals[i], schema.arguments()[i], tensors, device);
  if (takes_contiguous(op)) {
    for (std::size_t i = first; i < stack.size(); ++i)
      stack[i] = with_tensors(stack[i], [](const at::Tensor& tensor) { return tensor.contiguous(); });
  }
  const InFloat in_float(op, stack, count);
  op.callBoxed(stack);
  in_float.round_results(stack, schema.returns().size());
  tensors.resize_outputs();
  for (std::size_t i = stack.size() - schema.returns().size(); i < stack.size(); ++i)
    stack[i] = on_device(stack[i], tensors);
}

}  // namespace opgate::simulator::aten
