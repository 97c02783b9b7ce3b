"""Kernels that a library registers for operators of torch itself: which ones, and calls that reach them."""
