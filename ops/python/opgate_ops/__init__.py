"""OpGate's model operators: importing this package makes ``torch.ops.opgate_ops.*`` available."""

from opgate_ops import _library

_library.load()  # before the modules below, which name what the library registers

from opgate_ops._library import library_path  # noqa: E402
from opgate_ops.bev_model import CameraToBEV  # noqa: E402
from opgate_ops.bev_pool import BEVPool, bev_pool_prepare, bev_pool_v2  # noqa: E402
from opgate_ops.identity_conv import IdentityConv, identity_conv  # noqa: E402
from opgate_ops.identity_model import IdentityModel  # noqa: E402

__all__ = [
    "BEVPool",
    "CameraToBEV",
    "IdentityConv",
    "IdentityModel",
    "bev_pool_prepare",
    "bev_pool_v2",
    "identity_conv",
    "library_path",
]
