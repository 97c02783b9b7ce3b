"""The models and ONNX forms of this library, described for OpGate: opgate.toml lists this module."""

import opgate
import torch

from opgate_ops.add_matmul import AddMatmul
from opgate_ops.block import Block
from opgate_ops.identity_model import IdentityModel


@opgate.model("IdentityModel")
def identity_model(spec: opgate.ModelSpec) -> None:
    """System 1: the class and the operator between two native convolutions, deployed without Python."""
    spec.module(IdentityModel)
    spec.dtypes(torch.float32)
    spec.sample(opgate.uniform(1, 3, 224, 224))
    spec.graph(
        "aten.conv2d.default",
        "higher_order.call_torchbind",
        "opgate_ops.identity_conv.default",
        "aten.conv2d.default",
    )
    spec.reference(lambda x: x)
    spec.accuracy(opgate.exact())


@opgate.model("AddMatmul")
def add_matmul(spec: opgate.ModelSpec) -> None:
    """System 3: two operators with derivatives, one after the other."""
    spec.module(AddMatmul)
    spec.dtypes(torch.float32)
    spec.sample(opgate.uniform(1000, 100))
    spec.graph("opgate_ops.add.Scalar", "opgate_ops.matmul.default")
    weight = AddMatmul().weight.double()
    spec.reference(lambda x: (x.double() + 1) @ weight.to(x.device))
    # A sum of 100 terms has an error of about sqrt(100) ulps at the scale of the terms; 12 leaves a margin.
    spec.accuracy(opgate.ulps(12), scale=lambda x: (x.double().abs() + 1) @ weight.to(x.device).abs())


@opgate.model("Block")
def block(spec: opgate.ModelSpec) -> None:
    """Layers of torch with two operators between them, as a library is used."""
    spec.module(Block)
    spec.dtypes(torch.float32)
    spec.sample(opgate.uniform(2, 6, 32))
    norm, linear, add = "opgate_ops.layer_norm.default", "aten.linear.default", "aten.add.Tensor"
    spec.graph(
        *(norm, linear, "aten.view.default", "aten.permute.default", "aten.unbind.int"),
        "aten.scaled_dot_product_attention.default",
        *("aten.transpose.int", "aten.reshape.default", linear, add),
        *(norm, linear, "opgate_ops.gelu_tanh.default", linear, add),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # as the module under test
        double = Block().double().requires_grad_(False)
    spec.reference(lambda x: double(x.double().cpu()).to(x.device))
    # At the largest element: the sums of 32 and 128 terms of the last layers are of about its size.
    spec.accuracy(
        opgate.ulps(8), scale=lambda x: double(x.double().cpu()).abs().amax().expand(x.shape).to(x.device)
    )


for table, standard in (("AS_CUSTOM_OPERATORS", False), ("AS_STANDARD_OPERATORS", True)):
    opgate.onnx(f"opgate_ops.onnx:{table}", operators=["opgate_ops::bev_pool_v2"], standard=standard)
