// sin_out on the CPU.
#include <ATen/Dispatch.h>
#include <torch/library.h>

#include "../common/elementwise.h"
#include "sin_out.h"

namespace opgate_ops {
namespace {

void sin_out_cpu(const at::Tensor& input, const at::Tensor& output) {
  check_sin_out(input, output);
  at::assert_no_internal_overlap(output);
  const at::Tensor from = input.is_alias_of(output) ? input.clone() : input;
  at::Tensor to = output;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "sin_out",
                                  [&] { elementwise<scalar_t>(to, Sine(), from); });
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) { m.impl("sin_out", &opgate_ops::sin_out_cpu); }
