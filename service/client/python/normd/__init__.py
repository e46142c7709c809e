"""LayerNorm on NVIDIA GPUs through the normd daemon.

    import numpy, normd
    y = normd.Client().layer_norm(numpy.random.rand(4, 384).astype("float32"))
"""

from .client import Client, Served
from .errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NormdError,
    NotFound,
    ResourceExhausted,
    Unavailable,
    Unimplemented,
)

__all__ = [
    "Client",
    "DeadlineExceeded",
    "FailedPrecondition",
    "InvalidArgument",
    "NormdError",
    "NotFound",
    "ResourceExhausted",
    "Served",
    "Unavailable",
    "Unimplemented",
]
