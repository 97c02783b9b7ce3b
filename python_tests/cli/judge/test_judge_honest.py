"""opgate judge accuses no honest kernel, whatever its arguments and results are, and measures its speed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Judge

pytestmark = pytest.mark.exhaustive

# For each kind: what get_inputs() draws, the parameters, the reference, and another way to the same result.
KERNELS = {
    "convolution": (
        "torch.randn(2, 3, 12, 12), torch.randn(4, 3, 3, 3)",
        "x, w",
        "F.conv2d(x, w, padding=1)",
        "(w.flatten(1) @ F.unfold(x, 3, padding=1)).view(len(x), len(w), *x.shape[2:])",
    ),
    "softmax": ("torch.randn(16, 33)", "x", "x.softmax(-1)", "x.exp() / x.exp().sum(-1, keepdim=True)"),
    "in place": ("torch.randn(16, 33)", "x", "x.mul_(2).add_(1)", "x.add_(x).add_(1)"),
    "lists": (
        "torch.randn(12, 30)",
        "x",
        "list(x.cos().split(5))",
        "[x[i : i + 5].cos() for i in range(0, len(x), 5)]",
    ),
    "integers": (
        "torch.randn(12, 30)",
        "x",
        "(x.argmax(-1), torch.argsort(x, dim=-1, stable=True))",
        "(x.max(-1).indices, x.sort(dim=-1, stable=True).indices)",
    ),
    "complex": (
        "torch.randn(9, 10, dtype=torch.complex64), torch.randn(10, 8, dtype=torch.complex64)",
        "a, b",
        "a @ b",
        "torch.complex(a.real @ b.real - a.imag @ b.imag, a.real @ b.imag + a.imag @ b.real)",
    ),
    "dicts": (
        "{'x': torch.randn(8, 9), 's': (torch.randn(8, 9), 2.0)}",
        "d",
        "{'b': d['x'] * d['s'][0] + d['s'][1], 'a': d['x'].sum(-1)}",
        "{'a': d['x'] @ torch.ones(d['x'].shape[-1]), 'b': d['s'][1] + d['s'][0] * d['x']}",
    ),
    "indices": (
        "torch.randn(20, 8), torch.randint(0, 20, (15,)), torch.randn(15, 8)",
        "t, i, v",
        "t.index_add(0, i, v)[i]",
        "(t + F.one_hot(i, len(t)).T.float() @ v).index_select(0, i)",
    ),
    "float16": (
        "torch.randn(16, 32).half(), torch.randn(32, 16).half()",
        "a, b",
        "a @ b",
        "(a.float() @ b.float()).half()",
    ),
    "dropout and buffers": (
        "torch.randn(7, 11)",
        "x",
        "F.dropout(F.batch_norm(x, MEAN, VARIANCE), 0.5, training=False)",
        "(x - MEAN) * (VARIANCE + 1e-5).rsqrt()",
    ),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_an_honest_kernel_is_not_accused(judge: Judge, tmp_path: Path, kind: str) -> None:
    drawn, names, slow, fast = KERNELS[kind]
    (tmp_path / "kernels.py").write_text(
        "import torch\nimport torch.nn.functional as F\n"
        "MEAN, VARIANCE = torch.linspace(-1, 1, 11), torch.linspace(1, 2, 11)\n"
        f"def get_inputs():\n    return [{drawn}]\n"
        f"def slow({names}):\n    return {slow}\n"
        f"def fast({names}):\n    return {fast}\n"
    )
    words = ["kernels.py:fast", "--reference", "kernels.py:slow", "--no-compile", "--json"]
    verdict = json.loads(judge(*words, folder=tmp_path).stdout)
    assert verdict["verdict"] in ("correct", "unclear"), verdict
    assert not verdict["findings"]
    if verdict["verdict"] == "correct":
        assert verdict["speed"]["reference"]["ratio"] > 0
