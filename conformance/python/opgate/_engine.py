"""Becomes the engine's binding that fits, if none lies beside this package: a wheel has one for each torch.

An extension module of this name comes before a source file, so that a build for one torch never reads this.
"""

import importlib.util
import sys

from opgate.engines.choice import NoEngineError, binding_in, engine_for, supported_torch

try:
    _torch = supported_torch()
    _binding = binding_in(engine_for(_torch))
except NoEngineError as error:
    raise ImportError(f"opgate: {error}") from None
_spec = importlib.util.spec_from_file_location(__name__, _binding)
try:
    _module = importlib.util.module_from_spec(_spec)
    sys.modules[__name__] = _module
    _spec.loader.exec_module(_module)
except ImportError as error:
    raise ImportError(
        f"opgate: the engine {_binding} does not load with torch {_torch.version} of {_torch.folder}: "
        f"{error}. If this torch is no release, run `opgate engine build`, which compiles an engine for it"
    ) from error
