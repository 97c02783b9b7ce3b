// The checks that operators make on their arguments before they touch any memory; all throw c10::Error.
// Sizes are compared as symbols, so that meta kernels can make the same checks without fixing a traced
// program to the sizes of its example.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymBool.h>
#include <c10/util/Exception.h>

namespace opgate_ops {

/// An argument and its name in messages: op is "gelu_tanh_backward", name is "grad".
struct Named {
  const char* op;
  const char* name;
  const at::Tensor& tensor;
};

/// Whether the dtype is a floating dtype that the operators take.
inline bool is_floating(at::ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat || dtype == at::kDouble;
}

inline void check_defined(const Named& x) {
  TORCH_CHECK(x.tensor.defined(), x.op, ": ", x.name, " is undefined");
}

inline void check_floating(const Named& x) {
  check_defined(x);
  const at::ScalarType dtype = x.tensor.scalar_type();
  TORCH_CHECK(is_floating(dtype), x.op, ": ", x.name, " must be Half, BFloat16, Float or Double, got ",
              dtype);
}

inline void check_dtype(const Named& x, at::ScalarType wanted) {
  check_defined(x);
  TORCH_CHECK(x.tensor.scalar_type() == wanted, x.op, ": ", x.name, " must be ", wanted, ", got ",
              x.tensor.scalar_type());
}

inline void check_dims(const Named& x, int64_t wanted) {
  TORCH_CHECK(x.tensor.dim() == wanted, x.op, ": ", x.name, " must have ", wanted, " dimensions, got ",
              x.tensor.dim());
}

/// Checks that x has the dtype and device of `first`, which was checked to be floating before.
inline void check_like(const Named& x, const Named& first) {
  check_defined(x);
  TORCH_CHECK(x.tensor.scalar_type() == first.tensor.scalar_type(), x.op, ": ", x.name,
              " must have the dtype of ", first.name, ", ", first.tensor.scalar_type(), ", got ",
              x.tensor.scalar_type());
  TORCH_CHECK(x.tensor.device() == first.tensor.device(), x.op, ": ", x.name, " must be on the device of ",
              first.name, ", ", first.tensor.device(), ", got ", x.tensor.device());
}

/// Checks that size `dim` of x is `wanted`; `because` says in the message what that is: "the columns of a".
inline void check_size(const Named& x, int64_t dim, const c10::SymInt& wanted, const char* because) {
  const c10::SymInt size = x.tensor.sym_size(dim);
  TORCH_SYM_CHECK(size.sym_eq(wanted), x.op, ": dimension ", dim, " of ", x.name, " must have size ", wanted,
                  ", ", because, ", got ", size);
}

/// Checks that x has the sizes of `first`.
inline void check_same_sizes(const Named& x, const Named& first) {
  const auto sizes = x.tensor.sym_sizes(), wanted = first.tensor.sym_sizes();
  TORCH_CHECK(sizes.size() == wanted.size(), x.op, ": ", x.name, " must have the sizes of ", first.name, ", ",
              wanted, ", got ", sizes);
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    TORCH_SYM_CHECK(sizes[dim].sym_eq(wanted[dim]), x.op, ": ", x.name, " must have the sizes of ",
                    first.name, ", ", wanted, ", got ", sizes);
}

}  // namespace opgate_ops
