"""The backward of the GRPO loss "luspo" of sequences reads a gradient of one column as if it had all columns.

`_reduce_loss` scales by the lengths of the sequences, so that the gradient of the loss is a tensor [B, 1].
The kernel `_grpo_loss_bwd_kernel_seq` is launched with its strides, (1, 1), and adds the index of the token.
"""

import torch
from liger_kernel.ops.grpo_loss import GrpoLossFunction

batch, length, words = 2, 16, 32
torch.manual_seed(0)
logits = torch.randn(batch, length + 1, words, device="cuda", requires_grad=True)
options = {"temperature": 1.0, "beta": 0.04, "eps_low": 0.2, "eps_high": 0.2, "inplace": False}
loss = GrpoLossFunction.apply(
    logits,
    torch.randn(batch, length, device="cuda"),  # logarithms of the old probabilities
    torch.randn(batch, length, device="cuda"),  # and of those of the reference
    torch.randint(0, words, (batch, length), device="cuda"),
    torch.randn(batch, device="cuda"),
    torch.ones(batch, length, device="cuda", dtype=torch.int32),
    *options.values(),
    "luspo",
    None,
    True,
    "sequence",
)[0]
loss.backward()
print(logits.grad.abs().sum())
