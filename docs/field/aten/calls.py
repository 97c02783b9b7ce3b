"""Calls of ATen's operators to record, and the choice among the recordings; README.md says how to use it.

python calls.py model             trains a small network for two steps
python calls.py examples          calls every operator of torch's own tests with their first two samples
python calls.py choose FROM...    copies recordings from these folders into ./recorded
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

LARGEST = 20000  # elements of a chosen sample
SAMPLES = 2  # of each operator
ONE_IN = 5  # of the operators that only torch's examples call


class Block(nn.Module):
    """A residual block with two norms."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(channels, channels, 3, padding=1)
        self.batch_norm = nn.BatchNorm2d(channels)
        self.group_norm = nn.GroupNorm(2, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Images to images of the same sizes."""
        return torch.relu(x + self.group_norm(nn.functional.silu(self.batch_norm(self.convolution(x)))))


class Network(nn.Module):
    """A residual network for images beside a transformer and an LSTM for tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2)
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.embedding = nn.Embedding(50, 32)
        self.encoder = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
        self.lstm = nn.LSTM(32, 16, batch_first=True)
        self.head = nn.Linear(16 + 32, 10)

    def forward(self, image: Tensor, tokens: Tensor) -> Tensor:
        """Logits of ten classes for images [n, 3, h, w] and tokens [n, length]."""
        seen = self.pool(nn.functional.max_pool2d(self.blocks(self.stem(image)), 2)).flatten(1)
        hidden, _ = self.lstm(self.encoder(self.embedding(tokens)))
        return self.head(torch.cat([hidden[:, -1], seen], 1))


def train() -> None:
    """Two steps of AdamW."""
    torch.manual_seed(0)
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, foreach=False)
    for _ in range(2):
        result = network(torch.randn(2, 3, 32, 32), torch.randint(0, 50, (2, 7)))
        nn.functional.cross_entropy(result, torch.tensor([1, 3])).backward()
        optimizer.step()
        optimizer.zero_grad()


def call_examples() -> None:
    """The first two samples in float32 of each operator that torch's tests describe."""
    from torch.testing._internal.common_methods_invocations import op_db

    refused = 0
    for op in op_db:
        if torch.float32 not in op.dtypes:
            continue
        try:
            for sample in list(op.sample_inputs("cpu", torch.float32))[:2]:
                op.op(sample.input, *sample.args, **sample.kwargs)
        except Exception:  # operators that need another build of torch raise errors of many types
            refused += 1
    print(f"{len(op_db)} operators, of which {refused} raised")


def elements(sample: dict[str, Any]) -> int:
    """The number of elements of the sample's tensors."""
    tensors = [value for value in sample["arguments"] if isinstance(value, dict) and "shape" in value]
    return sum(math.prod(tensor["shape"]) for tensor in tensors)


def choose(folders: list[Path]) -> None:
    """All operators of the first folder, and one in five of those that only the others have."""
    into = Path("recorded")
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    for folder in folders:
        files = sorted(folder.glob("*.json"))
        for file in files if folder == folders[0] else files[::ONE_IN]:
            recorded = json.loads(file.read_text())
            small = [sample for sample in recorded["samples"] if elements(sample) < LARGEST]
            if small and not (into / file.name).exists():
                (into / file.name).write_text(json.dumps(recorded | {"samples": small[:SAMPLES]}))
    print(f"{len(list(into.iterdir()))} operators")


if __name__ == "__main__":
    what, *folders = sys.argv[1:]
    if what == "choose":
        choose([Path(folder) for folder in folders])
    else:
        {"model": train, "examples": call_examples}[what]()
