"""Tensors and structures of them: how they are sent, and how they are compared."""
