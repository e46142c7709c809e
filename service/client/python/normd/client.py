"""Client: LayerNorm from Python, through a running normd."""

import dataclasses

import grpc
import numpy

from ._arrays import NAMES, Packed, unpack
from ._channel import MESSAGE_BYTES_MAX, ChannelPerProcess, find_socket
from .errors import InvalidArgument, NormdError, ResourceExhausted, error_of
from .v1 import normd_pb2 as pb

_POLICIES = {
    "fallback": pb.POLICY_FALLBACK,
    "wait": pb.POLICY_WAIT,
    "fail": pb.POLICY_FAIL,
}

# Seconds until a call is given up. No call is without a deadline.
CONTROL_S = 5.0
RUN_S = 30.0
WAIT_S = 120.0


@dataclasses.dataclass(frozen=True)
class Served:
    """Where an answer came from."""

    origin: str  # "memory", "store", "joined", "tuned", "default", "fallback" or "none"
    candidate: str  # the kernel, as canonical text
    key: str  # of the stored decision, as canonical text
    device: str  # UUID
    kernel_ns: int  # device time of the launch; 0 if none
    daemon_ns: int  # in the daemon, without the kernel and the copies


class Client:
    """A connection to one daemon; threads may share it.

    socket: the path of a Unix socket or "host:port"; None asks NORMD_SOCKET and then looks where
    the daemon puts its socket. The connection is made by the first call, and made anew in a child
    after fork(): a process that has used a Client should not fork while a call is under way.
    """

    def __init__(self, socket=None):
        self._connection = ChannelPerProcess(find_socket(socket))
        self.last = None  # Served, of the last layer_norm of any thread

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._connection.close()

    def layer_norm(self, x, gamma=None, beta=None, epsilon=1e-5, policy="fallback",
                   return_stats=False, *, dtype=None, device="", timeout=None):
        """y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis of x.

        x, gamma, beta: NumPy arrays of float32 or float16, or torch CPU tensors (bfloat16 too);
            gamma and beta have x.shape[-1] elements and may have a dtype of their own. With
            dtype="bf16", uint16 NumPy arrays are taken for the bits of bfloat16.
        policy: what a shape that is not tuned yet gets: "fallback" an answer at once, "wait" the
            tuned answer, "fail" FailedPrecondition.
        Returns y as x's kind, dtype and shape; with return_stats (y, mean, rstd), where mean and
        rstd are float32 of shape x.shape[:-1].
        Raises InvalidArgument (its field says what is wrong), Unavailable, DeadlineExceeded, ...
        """
        if policy not in _POLICIES:
            raise InvalidArgument(f"policy {policy!r}: expected one of {', '.join(_POLICIES)}",
                                  field="policy")
        if dtype not in (None, *NAMES):
            raise InvalidArgument(f"dtype {dtype!r}: expected one of {', '.join(NAMES)}",
                                  field="dtype")
        header, packed = _header(x, gamma, beta, dtype, return_stats)
        header.epsilon = epsilon
        header.policy = _POLICIES[policy]
        header.device = str(device)
        request = _message(header, packed)
        if len(request) > MESSAGE_BYTES_MAX:
            raise ResourceExhausted(
                f"the arrays take {len(request)} bytes; a message holds message_bytes_max = "
                f"{MESSAGE_BYTES_MAX}. Send fewer rows at a time"
            )
        default_s = WAIT_S if policy == "wait" else RUN_S
        response = self._call("Run", request, default_s if timeout is None else timeout)
        self.last = Served(
            origin=pb.Origin.Name(response.origin).removeprefix("ORIGIN_").lower(),
            candidate=response.candidate,
            key=response.key,
            device=response.device,
            kernel_ns=response.kernel_ns,
            daemon_ns=response.daemon_ns,
        )
        return _answer(response, packed, return_stats)

    def status(self):
        """The daemon's versions, places, devices, counters and limits (a GetStatusResponse)."""
        return self._call("GetStatus", pb.GetStatusRequest(), CONTROL_S)

    def _call(self, method, request, timeout_s):
        try:
            return getattr(self._connection.stub(), method)(request, timeout=timeout_s)
        except grpc.RpcError as rpc_error:
            error = error_of(rpc_error)
        raise error  # outside the handler: the gRPC trace says nothing more


def _message(header, packed):
    """The serialised request: x is copied once, behind the header, as protobuf would write it."""
    if not packed.size:
        return header.SerializeToString()
    prefix = bytearray()
    for value in (pb.RunRequest.X_FIELD_NUMBER << 3 | 2, packed.size):
        while value >= 0x80:
            prefix.append(value & 0x7F | 0x80)
            value >>= 7
        prefix.append(value)
    return b"".join((header.SerializeToString(), prefix, packed.view()))


def _header(x, gamma, beta, dtype, return_stats):
    packed = Packed(x, "x", bf16=dtype == "bf16")
    if dtype is not None and packed.dtype != NAMES[dtype]:
        raise InvalidArgument(f"x is not {dtype}; it is sent as it is, convert it first", field="x")
    if len(packed.shape) == 0:
        raise InvalidArgument("x is a scalar; its last axis would be the columns", field="x")
    request = pb.RunRequest()
    problem = request.problem
    problem.op = pb.OP_LAYER_NORM
    problem.columns = packed.shape[-1]
    problem.rows = int(numpy.prod(packed.shape[:-1], dtype=numpy.int64))
    problem.x_dtype = problem.y_dtype = packed.dtype
    problem.want_mean = problem.want_rstd = bool(return_stats)
    if gamma is not None:
        gamma = _parameter(gamma, "gamma", dtype, problem.columns)
        problem.gamma_dtype, request.gamma = gamma.dtype, gamma.bytes()
    if beta is not None:
        beta = _parameter(beta, "beta", dtype, problem.columns)
        problem.beta_dtype, request.beta = beta.dtype, beta.bytes()
    return request, packed


def _parameter(array, name, dtype, columns):
    packed = Packed(array, name, bf16=dtype == "bf16")
    if tuple(packed.shape) != (columns,):
        raise InvalidArgument(
            f"{name} has shape {tuple(packed.shape)}; expected ({columns},), x's last axis",
            field=name,
        )
    return packed


def _answer(response, packed, return_stats):
    try:
        y = unpack(response.y, packed.dtype, packed.shape, packed.is_torch)
        if not return_stats:
            return y
        rows_shape = packed.shape[:-1]
        return (y, unpack(response.mean, pb.DTYPE_FP32, rows_shape, packed.is_torch),
                unpack(response.rstd, pb.DTYPE_FP32, rows_shape, packed.is_torch))
    except ValueError:
        raise NormdError("the daemon's answer does not have the size of the question") from None
