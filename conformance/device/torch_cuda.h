// The CUDA half of torch.
#pragma once

#include <filesystem>

namespace opgate {

/// Where libtorch_cuda.so lies in this torch, or would lie.
std::filesystem::path torch_cuda_library();

/// Whether this torch has it.
bool has_torch_cuda();

}  // namespace opgate
