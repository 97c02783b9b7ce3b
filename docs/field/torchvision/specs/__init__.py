"""What torchvision's C++ operators promise, with references in plain PyTorch; one module an operator."""

from specs import deform_conv2d, nms, ps_roi_align, ps_roi_pool, roi_align, roi_pool

__all__ = ["deform_conv2d", "nms", "ps_roi_align", "ps_roi_pool", "roi_align", "roi_pool"]
