"""Mutants of PTX, which the simulated device reads instead of the source."""
