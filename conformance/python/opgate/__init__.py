"""OpGate's Python half: what only Python can check, and models described for export and packaging."""

from opgate.model import ModelSpec, TensorArgument, model, uniform

__all__ = ["ModelSpec", "TensorArgument", "model", "uniform"]
