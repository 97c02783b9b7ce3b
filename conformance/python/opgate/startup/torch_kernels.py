"""On the simulated device, torch's own kernels for CUDA are replaced before a program registers others."""

from __future__ import annotations

import ctypes


def replace_kernels() -> None:
    """Replaces them, once torch is imported. Nothing if no device is simulated in this process."""
    if replace := getattr(ctypes.CDLL(None), "opgate_sim_replace_kernels_of_torch", None):
        replace()
