// Tensors of the simulated device as the CPU's kernels take them.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include <opgate_sim.h>

namespace opgate::simulator::aten {

/// Whether libcudart.so.13 in this process is the simulated one.
bool is_simulated();

/// A CPU tensor on the same memory, with the same sizes and strides. It does not keep the memory alive, as a
/// kernel does not. Nothing is read; the memory may only be accessed in the order of the stream.
at::Tensor alias_on_host(const at::Tensor& tensor);

/// A new tensor on the current device with the values of one of the CPU. Waits for the current stream.
at::Tensor copy_to_device(const at::Tensor& tensor);

/// Makes `function` an operation of the current stream, as a kernel is: that of the operator `op`, with these
/// accesses.
void launch(const std::string& op, const std::vector<OpgateSimAccess>& accesses, void (*function)(void*),
            void* data);

/// The host is about to access memory for the operator `op`, and has waited for its streams.
void note_accesses(const std::string& op, const std::vector<OpgateSimAccess>& accesses);

/// `made`, which stands for a number of Python, as `original` does, or does not.
at::Tensor as_number_like(at::Tensor made, const at::Tensor& original);

/// The memory of the tensor is freed only after the stream has done what it was given until then.
void record_stream(at::Tensor& tensor, c10::Stream stream);

/// A mistake inside of such an operation: the device fails from now on, as after an assertion in a kernel.
void fail_in_stream(const char* message);

/// An operator needs what is not simulated.
void note_unsupported(const char* what);

bool runs_at_once();
bool logs();

}  // namespace opgate::simulator::aten
