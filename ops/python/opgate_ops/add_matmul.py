"""AddMatmul: matmul(add(x, 1.0), weight), a model of two operators of this library."""

import torch


class AddMatmul(torch.nn.Module):
    """Takes x [N, rows] and returns [N, columns], in the weight's dtype; the weight is a frozen parameter.

    The weight is 100x200, as published, and the same in every process: the sines of the element numbers.
    """

    def __init__(self, rows: int = 100, columns: int = 200) -> None:
        super().__init__()
        weight = torch.arange(rows * columns, dtype=torch.float32).view(rows, columns).sin()
        self.weight = torch.nn.Parameter(weight, requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Raises RuntimeError unless x is a matrix of `rows` columns with the dtype of the weight."""
        return torch.ops.opgate_ops.matmul.default(torch.ops.opgate_ops.add.Scalar(x, 1.0), self.weight)
