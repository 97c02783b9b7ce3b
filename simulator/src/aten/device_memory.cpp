#include "aten/device_memory.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <opgate_sim/loaded.h>

#include <cstring>

namespace opgate::simulator::aten {
namespace {

void* host_view(const void* pointer) {
  static auto* const function = OPGATE_SIMULATED(opgate_sim_host_view);
  return function(pointer);
}

void check(int error) { C10_CUDA_CHECK(static_cast<cudaError_t>(error)); }

}  // namespace

bool is_simulated() { return OPGATE_SIMULATED(opgate_sim_host_view) != nullptr; }

at::Tensor as_number_like(at::Tensor made, const at::Tensor& original) {
  if (original.unsafeGetTensorImpl()->is_wrapped_number())
    made.unsafeGetTensorImpl()->set_wrapped_number(true);
  return made;
}

at::Tensor alias_on_host(const at::Tensor& tensor) {
  const auto options = tensor.options().device(at::kCPU).requires_grad(false);
  if (tensor.numel() == 0) return at::empty_strided(tensor.sizes(), tensor.strides(), options);
  // All of the storage, because kernels may make views of their arguments.
  const auto elements =
      static_cast<int64_t>(tensor.storage().nbytes()) / static_cast<int64_t>(tensor.element_size());
  at::Tensor alias = at::from_blob(host_view(tensor.storage().data()), {elements}, options)
                         .as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  alias._set_conj(tensor.is_conj());
  alias._set_neg(tensor.is_neg());
  return as_number_like(alias, tensor);
}

at::Tensor copy_to_device(const at::Tensor& tensor) {
  const at::Tensor result =
      at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kCUDA));
  if (tensor.numel() == 0) return result;
  c10::cuda::getCurrentCUDAStream().synchronize();  // allocators may fill new memory in the stream
  const std::size_t bytes =
      at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.element_size());
  std::memcpy(host_view(result.mutable_data_ptr()), tensor.const_data_ptr(), bytes);
  return result;
}

void launch(const std::string& op, const std::vector<OpgateSimAccess>& accesses, void (*function)(void*),
            void* data) {
  static auto* const call = OPGATE_SIMULATED(opgate_sim_launch);
  check(call(c10::cuda::getCurrentCUDAStream().stream(), function, data, op.c_str(), accesses.data(),
             accesses.size()));
}

void note_accesses(const std::string& op, const std::vector<OpgateSimAccess>& accesses) {
  static auto* const call = OPGATE_SIMULATED(opgate_sim_note_accesses);
  check(call(op.c_str(), accesses.data(), accesses.size()));
}

// ATen's kernel, which this replaces, informs torch's own allocator.
void record_stream(at::Tensor& tensor, c10::Stream stream) {
  const c10::cuda::CUDAStream of_device(stream);
  c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), of_device);
  static auto* const call = OPGATE_SIMULATED(opgate_sim_will_wait);
  check(call(tensor.storage().data(), of_device.stream()));
}

void fail_in_stream(const char* message) {
  static auto* const call = OPGATE_SIMULATED(opgate_sim_fail);
  call(message);
}

void note_unsupported(const char* what) {
  static auto* const call = OPGATE_SIMULATED(opgate_sim_note_unsupported);
  call(what);
}

bool runs_at_once() {
  static auto* const function = OPGATE_SIMULATED(opgate_sim_aten_at_once);
  return function() != 0;
}

bool logs() {
  static const bool value = OPGATE_SIMULATED(opgate_sim_log)() != 0;
  return value;
}

}  // namespace opgate::simulator::aten
