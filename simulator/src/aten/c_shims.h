// The C functions by which the code of an AOTInductor package calls operators, such as
// aoti_torch_cuda_mm_out.
#pragma once

namespace opgate::simulator::aten {

/// From now on these functions call the operators through the dispatcher. As torch defines them, they call
/// CUDA's kernels past it, and so past what replaces those.
void replace_c_shims();

}  // namespace opgate::simulator::aten
