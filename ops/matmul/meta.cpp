// The meta kernel of matmul.
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "matmul.h"

namespace opgate_ops {
namespace {

at::Tensor matmul_meta(const at::Tensor& a, const at::Tensor& b) {
  check_matmul(a, b);
  return at::empty_symint({a.sym_size(0), b.sym_size(1)}, a.options());
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) { m.impl("matmul", &opgate_ops::matmul_meta); }
