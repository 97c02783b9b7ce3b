"""Mutants of Python modules behind switches, and of kernels in Triton, of which each is compiled."""
