"""OpGate's model operators: importing this package makes ``torch.ops.opgate_ops.*`` available."""

from opgate_ops import _library

_library.load()  # before the modules below, which name what the library registers

from opgate_ops._library import library_path  # noqa: E402
from opgate_ops.identity_conv import IdentityConv, identity_conv  # noqa: E402
from opgate_ops.identity_model import IdentityModel  # noqa: E402

__all__ = ["IdentityConv", "IdentityModel", "identity_conv", "library_path"]
