"""Functions that no dispatcher knows, as `opgate record` and `opgate.check` see them.

The package imports nothing of opgate, because it is loaded into programs whose interpreter may not have it.
"""
