// Operators that have a kernel on CUDA and none on the CPU.
#pragma once

#include <torch/library.h>

#include <string>

namespace opgate::simulator::aten {

/// Whether implement_cuda_only() implements it: "aten::mm.dtype".
bool is_cuda_only(const std::string& operator_and_overload);

/// Implements them by operators that the CPU has.
void implement_cuda_only(torch::Library& library);

}  // namespace opgate::simulator::aten
