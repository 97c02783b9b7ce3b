"""A kernel as Hugging Face's kernel-builder leaves it, and a program that uses it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

OPS = """
import torch
ops = torch.ops.{id}

def add_op_namespace_prefix(op_name: str):
    return f"{id}::{{op_name}}"
"""
INIT = """
import torch
from . import layers
from ._ops import add_op_namespace_prefix, ops


@torch.library.custom_op(add_op_namespace_prefix("scale"), mutates_args=())
def scale(x: torch.Tensor, by: float) -> torch.Tensor:
    return (x * FACTOR * by).contiguous()


@scale.register_fake
def _(x, by):
    return torch.empty_like(x, memory_format=torch.contiguous_format)
"""
LAYERS = """
import torch


class Third(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x / 3

    @staticmethod
    def backward(ctx, gradient):
        return gradient / 3
"""
PROGRAM = """
import importlib.util, json, sys
from pathlib import Path
import torch

(variant,) = Path("build").iterdir()
name = json.loads((variant / "metadata.json").read_text())["id"]
found = importlib.util.spec_from_file_location(name, variant / "__init__.py")
kernel = sys.modules[name] = importlib.util.module_from_spec(found)
found.loader.exec_module(kernel)
x = torch.randn(4, 6)
kernel.ops.scale(x, 1.5)
kernel.layers.Third.apply(x.requires_grad_()).sum().backward()
"""


def build(folder: Path, number: str, factor: float = 2.0) -> Path:
    """Builds the kernel as kernel-builder does, without a library."""
    shutil.rmtree(folder / "build", ignore_errors=True)
    variant, name = folder / "build" / "torch-cpu", f"_kinds_cpu_{number}"
    (variant / "layers").mkdir(parents=True)
    (variant / "_ops.py").write_text(OPS.format(id=name))
    (variant / "__init__.py").write_text(INIT.replace("FACTOR", str(factor)))
    (variant / "layers" / "__init__.py").write_text(LAYERS)
    metadata = {"name": "kinds", "id": name, "version": 1, "backend": {"type": "cpu"}}
    (variant / "metadata.json").write_text(json.dumps(metadata))
    return variant
