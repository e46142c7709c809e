"""Arrays in and out: NumPy arrays, and torch CPU tensors if torch is there.

NumPy has no bfloat16. Torch tensors of it travel as the same bits in int16; a NumPy caller hands in
uint16 and says dtype="bf16".
"""

import sys

import numpy

from .errors import InvalidArgument
from .v1 import normd_pb2 as pb

_NUMPY = {
    numpy.dtype("<f4"): pb.DTYPE_FP32,
    numpy.dtype("<f2"): pb.DTYPE_FP16,
}
NAMES = {"fp32": pb.DTYPE_FP32, "fp16": pb.DTYPE_FP16, "bf16": pb.DTYPE_BF16}
_ELEMENTS = {
    pb.DTYPE_FP32: numpy.dtype("<f4"),
    pb.DTYPE_FP16: numpy.dtype("<f2"),
    pb.DTYPE_BF16: numpy.dtype("<u2"),
}


def _torch():
    """torch if the program has imported it: a tensor cannot come from anywhere else."""
    return sys.modules.get("torch")


class Packed:
    """An array as the wire wants it: dtype number, shape, elements; torch or not."""

    def __init__(self, array, name, bf16=False):
        torch = _torch()
        self.is_torch = torch is not None and isinstance(array, torch.Tensor)
        if self.is_torch:
            array, self.dtype = self._from_torch(torch, array, name)
        else:
            array, self.dtype = self._from_numpy(numpy.asarray(array), name, bf16)
        self.shape = array.shape
        self._array = numpy.ascontiguousarray(array)
        self.size = self._array.nbytes

    def view(self):
        """The elements' bytes without a copy."""
        return self._array.reshape(-1).view("u1").data

    def bytes(self):
        return self._array.tobytes()

    @staticmethod
    def _from_torch(torch, tensor, name):
        if tensor.device.type != "cpu":
            raise InvalidArgument(
                f"{name} is on {tensor.device}; only CPU tensors are sent", field=name
            )
        numbers = {torch.float32: pb.DTYPE_FP32, torch.float16: pb.DTYPE_FP16,
                   torch.bfloat16: pb.DTYPE_BF16}
        if tensor.dtype not in numbers:
            raise InvalidArgument(
                f"{name} has dtype {tensor.dtype}; expected float32, float16 or bfloat16",
                field=name,
            )
        tensor = tensor.detach().contiguous()
        if tensor.dtype == torch.bfloat16:
            return tensor.view(torch.int16).numpy(), pb.DTYPE_BF16
        return tensor.numpy(), numbers[tensor.dtype]

    @staticmethod
    def _from_numpy(array, name, bf16):
        if bf16 and array.dtype == numpy.dtype("<u2"):
            return array, pb.DTYPE_BF16
        dtype = _NUMPY.get(array.dtype)
        if dtype is None:
            expected = "float32, float16" + (" or uint16 (bf16)" if bf16 else "")
            raise InvalidArgument(
                f"{name} has dtype {array.dtype}; expected {expected}", field=name
            )
        return array, dtype


def unpack(data, dtype, shape, as_torch):
    """The answer's bytes as an array of the caller's kind, writable and owned by the caller."""
    array = numpy.frombuffer(data, dtype=_ELEMENTS[dtype]).reshape(shape).copy()
    if not as_torch:
        return array
    torch = _torch()
    if dtype == pb.DTYPE_BF16:
        return torch.from_numpy(array.view(numpy.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
