"""Scores in another dtype than the boxes: refused on the CPU, taken on CUDA."""

import torch
from torchvision.ops import nms

boxes, scores = torch.tensor([[0.0, 0, 1, 1], [2, 2, 3, 3]]), torch.ones(2, dtype=torch.float64)
print(nms(boxes.cuda(), scores.cuda(), 0.5).tolist())
print(nms(boxes, scores, 0.5).tolist())
