#include "aten/deferred.h"

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aten/device_memory.h"
#include "aten/in_float.h"
#include "aten/plain_dispatch.h"
#include "aten/tensor_accesses.h"
#include "aten/tensors_of_value.h"

namespace opgate::simulator::aten {
namespace {

struct DeferredCall {
  c10::OperatorHandle op;
  torch::jit::Stack arguments;      // of the CPU, on device memory
  std::vector<at::Tensor> results;  // where new results go; none if the operator writes to its arguments
  bool is_captured = false;         // by a graph, which may run it for as long as the process lives

  // In the thread that waits for the stream. What that thread does meanwhile, such as watching operators in
  // Python, must not reach it.
  void run() {
    const PlainDispatch plain;
    torch::jit::Stack stack = arguments;
    try {
      const InFloat in_float(op, stack, stack.size());
      op.callBoxed(stack);
      in_float.round_results(stack, op.schema().returns().size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].numel() == 0) continue;
        const at::Tensor computed = stack[stack.size() - results.size() + i].toTensor();
        // Without training, batch_norm of CUDA saves statistics, which nothing reads, and that of the CPU
        // saves none.
        if (computed.numel() == 0)
          results[i].zero_();
        else
          results[i].copy_(computed);
      }
    } catch (const c10::NotImplementedError& error) {
      note_unsupported(in_words(error).c_str());  // CUDA's kernel may take what that of the CPU does not
    } catch (const std::exception& error) {
      fail_in_stream(in_words(error).c_str());
    }
  }

  // Errors of torch go on with the C++ stack.
  std::string in_words(const std::exception& error) const {
    const std::string text = error.what();
    return op.operator_name().name + ": " + text.substr(0, text.find('\n'));
  }
};

/// What the schema and the arguments say about the results.
struct ResultPlan {
  std::size_t fresh = 0;
  std::vector<std::size_t> written;  // arguments that are written and returned
};

std::optional<ResultPlan> plan_results(const c10::FunctionSchema& schema, const c10::IValue* arguments) {
  ResultPlan plan;
  std::size_t returned = 0;
  for (const auto& result : schema.returns()) {
    if (result.type()->kind() != c10::TypeKind::TensorType) return std::nullopt;
    const auto* const alias = result.alias_info();
    if (alias == nullptr) {
      ++plan.fresh;
    } else if (alias->isWrite()) {
      ++returned;
    } else {
      return std::nullopt;  // a view
    }
  }
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const c10::IValue& value = arguments[i];
    // A generator is drawn from at the time of the call, in the order of the calls.
    if (argument.name() == "generator") return std::nullopt;
    if (argument.alias_info() == nullptr || !argument.alias_info()->isWrite()) continue;
    if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().is_cuda()) return std::nullopt;
    plan.written.push_back(i);
  }
  const bool in_place = plan.fresh == 0 && returned > 0 && returned == plan.written.size();
  const bool functional = plan.fresh > 0 && returned == 0 && plan.written.empty();
  return in_place || functional ? std::optional(plan) : std::nullopt;
}

// A copy between host and device returns when it is done, unless it is asynchronous, from or to pinned
// memory. What the CPU's kernel would refuse must be refused at once.
bool can_defer_copy(const c10::IValue* arguments) {
  const at::Tensor to = arguments[0].toTensor(), from = arguments[1].toTensor();
  if (at::has_internal_overlap(to) != at::MemOverlap::No || !at::is_expandable_to(from.sizes(), to.sizes()))
    return false;
  if (to.device().type() == from.device().type()) return true;
  const at::Tensor& host = to.is_cpu() ? to : from;
  return arguments[2].toBool() && host.is_pinned();
}

// The current stream of one device waits for that of another, as ATen makes both wait before and after a copy
// between them.
void make_wait(c10::Device waiting, c10::Device for_device) {
  at::cuda::CUDAEvent event;
  event.record(c10::cuda::getCurrentCUDAStream(for_device.index()));
  event.block(c10::cuda::getCurrentCUDAStream(waiting.index()));
}

// Numbers of Python stay on the CPU, where meta kernels that are in Python expect them.
at::Tensor on_meta(const at::Tensor& tensor) {
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return tensor;
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
}

// For any operator whose sizes do not depend on values, zeros give the sizes; as indices they are valid, too.
at::Tensor zeros_on_cpu(const at::Tensor& tensor) {
  at::Tensor zeros = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
  return as_number_like(zeros.zero_(), tensor);
}

// Tensors of the CPU are copied, because the program may change them after the call.
at::Tensor on_cpu(const at::Tensor& tensor) {
  return tensor.is_cuda() ? alias_on_host(tensor) : as_number_like(tensor.clone(), tensor);
}

// The call with tensors that `convert` gives, for the device `place`.
template <class Convert>
torch::jit::Stack converted(const c10::IValue* arguments, std::size_t count, c10::DeviceType place,
                            Convert convert) {
  torch::jit::Stack stack;
  stack.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const c10::IValue& value = arguments[i];
    stack.push_back(value.isDevice() ? c10::IValue(c10::Device(place)) : with_tensors(value, convert));
  }
  return stack;
}

bool has_tag(const c10::OperatorHandle& op, at::Tag tag) {
  const auto& tags = op.getTags();
  return std::ranges::find(tags, tag) != tags.end();
}

// The results of the call without its values; none if they depend on values, or where the call is wrong. Many
// of ATen's operators have a meta kernel in Python only, which this process need not have loaded.
std::optional<torch::jit::Stack> results_without_values(const c10::OperatorHandle& op,
                                                        const c10::IValue* arguments, std::size_t count) {
  const bool on_meta_device = op.hasKernelForDispatchKey(c10::DispatchKey::Meta);
  if (has_tag(op, at::Tag::nondeterministic_seeded)) return std::nullopt;
  // A meta kernel refuses where it cannot know: indexing by a mask has the same name as indexing by numbers.
  if (!on_meta_device &&
      (has_tag(op, at::Tag::dynamic_output_shape) || has_tag(op, at::Tag::data_dependent_output)))
    return std::nullopt;
  torch::jit::Stack stack = on_meta_device ? converted(arguments, count, c10::DeviceType::Meta, on_meta)
                                           : converted(arguments, count, c10::DeviceType::CPU, zeros_on_cpu);
  try {
    op.callBoxed(stack);
  } catch (const std::exception&) {
    return std::nullopt;  // the call itself then fails with the message of the CPU's kernel, or does not
  }
  return stack;
}

}  // namespace

bool defer(const c10::OperatorHandle& op, torch::jit::Stack& stack, c10::Device device) {
  if (runs_at_once()) return false;
  const auto& schema = op.schema();
  const std::size_t count = schema.arguments().size();
  const c10::IValue* const arguments = &stack[stack.size() - count];
  if (op.operator_name().name == "aten::copy_" && !can_defer_copy(arguments)) return false;
  const auto plan = plan_results(schema, arguments);
  if (!plan) return false;
  std::vector<at::Tensor> outputs;
  auto call = std::make_unique<DeferredCall>(DeferredCall{op, {}, {}});
  // copy_ has no such kernel that could be asked, and needs none: its result is its first argument.
  if (op.operator_name().name != "aten::copy_") {
    const auto known = results_without_values(op, arguments, count);
    if (!known) return false;
    const auto result = [&](std::size_t i) {
      return (*known)[known->size() - schema.returns().size() + i].toTensor();
    };
    for (std::size_t i = 0; i < plan->fresh; ++i) {
      const at::Tensor like = result(i);
      if (!like.defined()) return false;
      outputs.push_back(at::empty_strided(like.sizes(), like.strides(), like.options().device(device)));
      call->results.push_back(alias_on_host(outputs.back()));
    }
    for (std::size_t i = 0; i < plan->written.size(); ++i) {
      const at::Tensor written = arguments[plan->written[i]].toTensor(), like = result(i);
      if (like.sizes() == written.sizes()) continue;
      if (written.numel() > 0)
        return false;  // what a kernel makes of a result that is too large or too small is its own
      // As at::abs() and many others have it: a result that is made empty, and gets its size in the kernel.
      written.resize_(like.sizes());
      written.as_strided_(like.sizes(), like.strides());
    }
  }
  TensorAccesses accesses(schema);
  accesses.reads_arguments(arguments);
  for (const at::Tensor& fresh : outputs) accesses.writes_new(fresh);
  for (const std::size_t i : plan->written) {
    outputs.push_back(arguments[i].toTensor());
    accesses.writes_argument(outputs.back());
  }
  call->arguments = converted(arguments, count, c10::DeviceType::CPU, on_cpu);
  const std::vector<c10::Device> others = other_devices(arguments, count, device);
  for (const c10::Device& other : others) make_wait(device, other);
  call->is_captured = c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
  launch(
      op.operator_name().name, accesses.all(),
      [](void* deferred) {
        std::unique_ptr<DeferredCall> issued(static_cast<DeferredCall*>(deferred));
        issued->run();
        if (issued->is_captured) static_cast<void>(issued.release());
      },
      call.release());
  for (const c10::Device& other : others) make_wait(other, device);
  torch::jit::drop(stack, count);
  for (at::Tensor& output : outputs) stack.emplace_back(std::move(output));
  return true;
}

}  // namespace opgate::simulator::aten
