// ATen's CUDA kernels are in libtorch_cuda.so as machine code only, which is not simulated. Loading this
// library replaces them by the CPU's kernels, which work on the memory of the simulated device.
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aten/c_shims.h"
#include "aten/cuda_only.h"
#include "aten/deferred.h"
#include "aten/device_memory.h"
#include "aten/immediate.h"
#include "aten/tensors_of_value.h"

namespace opgate::simulator::aten {
namespace {

// Operators that launch nothing: they make tensors and views, or ask the runtime.
constexpr std::array kKept{
    std::string_view("aten::empty"),          std::string_view("aten::empty_strided"),
    std::string_view("aten::as_strided"),     std::string_view("aten::view"),
    std::string_view("aten::_reshape_alias"), std::string_view("aten::resize_"),
    std::string_view("aten::set_"),           std::string_view("aten::unfold"),
    std::string_view("aten::is_pinned"),      std::string_view("aten::_pin_memory"),
    std::string_view("aten::view_as_real"),   std::string_view("aten::view_as_complex"),
    std::string_view("aten::is_set_to"),
};

// Operators without a CUDA kernel of their own, which would choose one of cuDNN.
constexpr std::array kAlsoReplaced{
    std::string_view("aten::copy_"),
    std::string_view("aten::convolution"),
    std::string_view("aten::convolution_backward"),
};

constexpr std::string_view kRecordStream = "aten::record_stream";

template <class Names>
bool among(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// The device of the first tensor on one, as ATen's own kernels choose it.
c10::Device device_of(const c10::IValue* arguments, std::size_t count) {
  std::optional<c10::Device> found;
  for (std::size_t i = 0; i < count && !found; ++i) {
    const c10::IValue& value = arguments[i];
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      if (!found && tensor.is_cuda()) found = tensor.device();
    });
    if (!found && value.isDevice() && value.toDevice().is_cuda() && value.toDevice().has_index())
      found = value.toDevice();
  }
  return found.value_or(c10::Device(at::kCUDA, c10::cuda::current_device()));
}

// For such an operator, CUDA's kernel waits for the device as well: its result is on the host, or its sizes
// depend on values.
bool waits_on_a_gpu(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::dynamic_output_shape) || op.hasTag(at::Tag::data_dependent_output) ||
         op.operator_name().name == "aten::copy_";
}

// What the CPU runs at once, and a GPU in the order of the stream, could only be captured there.
void demand_no_capture(const c10::OperatorHandle& op) {
  if (c10::cuda::currentStreamCaptureStatusMayInitCtx() == c10::cuda::CaptureStatus::None ||
      waits_on_a_gpu(op))
    return;
  note_unsupported((op.operator_name().name + " while a graph is captured").c_str());
}

// CUDA's pointwise kernels take numbers without dims from the CPU, and no other tensors. The operators that
// copy between devices have no such tag.
void demand_one_device(const c10::OperatorHandle& op, const c10::IValue* arguments, std::size_t count,
                       c10::Device device) {
  for (std::size_t i = 0; i < count; ++i) {
    for_each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      if (tensor.device() == device || (tensor.is_cpu() && tensor.dim() == 0)) return;
      TORCH_CHECK(!op.hasTag(at::Tag::pointwise),
                  "Expected all tensors to be on the same device, but found at least two devices, ", device,
                  " and ", tensor.device(), "!");
    });
  }
}

void call_on_cpu(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, torch::jit::Stack* stack) {
  if (!op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)) {
    note_unsupported(op.operator_name().name.c_str());
    TORCH_CHECK_NOT_IMPLEMENTED(
        false, op.operator_name(),
        " has no kernel for the CPU, which would stand for the one of the simulated device");
  }
  const std::size_t count = op.schema().arguments().size();
  const c10::IValue* const arguments = &(*stack)[stack->size() - count];
  const c10::Device device = device_of(arguments, count);
  demand_one_device(op, arguments, count, device);
  const c10::cuda::CUDAGuard guard(device);
  const bool deferred = defer(op, *stack, device);
  if (!deferred) {
    demand_no_capture(op);
    run_at_once(op, *stack, device);
  }
  if (logs()) {
    std::fprintf(stderr, "opgate sim: %s on the CPU, %s\n", op.operator_name().name.c_str(),
                 deferred ? "in the order of its stream" : "at once");
  }
}

// Where ATen chooses between kernels, those that exist on the CPU too are to be chosen: convolution without
// cuDNN, attention by its definition.
void prefer_portable_kernels() {
  at::Context& context = at::globalContext();
  context.setUserEnabledCuDNN(false);
  context.setSDPUseFlash(false);
  context.setSDPUseMemEfficient(false);
  context.setSDPUseCuDNN(false);
}

class Silent final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& /*warning*/) override {}
};

std::unique_ptr<torch::Library> replace_kernels() {
  if (!is_simulated()) return nullptr;
  prefer_portable_kernels();
  // The fuser of TorchScript makes machine code.
  torch::jit::setTensorExprFuserEnabled(false);
  auto library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA,
                                                  __FILE__, static_cast<uint32_t>(__LINE__));
  // Torch warns of the first kernel that replaces another one.
  Silent silent;
  const c10::WarningUtils::WarningHandlerGuard quiet(&silent);
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const std::string overload = name.overload_name.empty() ? "" : "." + name.overload_name;
    if (!name.name.starts_with("aten::") || among(kKept, name.name) || is_cuda_only(name.name + overload) ||
        name.name == kRecordStream)
      continue;
    const auto op = dispatcher.findSchema(name);
    if (!op) continue;
    if (!op->hasKernelForDispatchKey(c10::DispatchKey::CUDA) && !among(kAlsoReplaced, name.name)) continue;
    library->impl((name.name.substr(std::string_view("aten::").size()) + overload).c_str(),
                  torch::CppFunction::makeFromBoxedFunction<&call_on_cpu>());
  }
  implement_cuda_only(*library);
  library->impl("record_stream", &record_stream);
  replace_c_shims();
  return library;
}

const std::unique_ptr<torch::Library> replaced = replace_kernels();

}  // namespace
}  // namespace opgate::simulator::aten
