"""A library of operators that nobody has written a spec for."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Compiler

OPERATORS = """
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {
at::Tensor blind(const at::Tensor& x, double factor) {
  TORCH_CHECK(factor > 0, "blind: factor must be positive, got ", factor);
  at::Tensor result = at::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "blind", [&] {
    const auto* from = static_cast<const scalar_t*>(x.const_data_ptr());
    for (int64_t i = 0; i < x.numel(); ++i) result.data_ptr<scalar_t>()[i] = from[i] * scalar_t(factor);
  });
  return result;
}
at::Tensor pick(const at::Tensor& x, const at::Tensor& rows, c10::ArrayRef<double> weights) {
  TORCH_CHECK(x.dim() == 2, "pick: x must be a matrix, got ", x.sizes());
  TORCH_CHECK(weights.size() == 1, "pick: one weight, got ", weights.size());
  return at::index_select(x.contiguous(), 0, rows).mul(weights[0]);
}
at::Tensor pick_meta(const at::Tensor& x, const at::Tensor& rows, c10::ArrayRef<double>) {
  return at::empty({rows.size(0), x.size(1)}, x.options());
}
}  // namespace

TORCH_LIBRARY(seen, library) {
  library.def("blind(Tensor x, float factor=2.) -> Tensor");
  library.impl("blind", c10::DispatchKey::CPU, &blind);
  library.impl("blind", c10::DispatchKey::Meta,
               [](const at::Tensor& x, double) { return at::empty(x.sizes(), x.options()); });
  library.def("pick(Tensor x, Tensor rows, float[] weights) -> Tensor");
  library.impl("pick", c10::DispatchKey::CPU, &pick);
  library.impl("pick", c10::DispatchKey::Meta, &pick_meta);
}
"""


@pytest.fixture(scope="session")
def seen_library(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiler(OPERATORS, tmp_path_factory.mktemp("library") / "libseen.so")
