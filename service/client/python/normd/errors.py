"""What goes wrong, one exception class for each kind; all derive from NormdError."""

import grpc

from ._status import parse_status_details


class NormdError(Exception):
    """The daemon, or the way to it, refused the call.

    field: the request field at fault as normd.proto spells it ("problem.columns"), or "".
    reason: one stable word for programs, or "".
    code: the grpc.StatusCode, or None if the call was never sent.
    """

    def __init__(self, message, *, field="", reason="", code=None):
        super().__init__(message)
        self.field = field
        self.reason = reason
        self.code = code


class InvalidArgument(NormdError, ValueError):
    """The input is wrong; `field` says which part of it. Nothing was launched."""


class NotFound(NormdError, LookupError):
    """The key or device that was named is not there."""


class FailedPrecondition(NormdError):
    """Policy "fail" and the shape is not tuned, or "wait" and nothing can be compiled there."""


class ResourceExhausted(NormdError):
    """A limit of the daemon was reached; the message names it."""


class Unavailable(NormdError, ConnectionError):
    """No daemon answers, or it is stopping. The call may be repeated."""


class DeadlineExceeded(NormdError, TimeoutError):
    """The time given was not enough. A tuning that was waited for goes on."""


class Unimplemented(NormdError, NotImplementedError):
    """The daemon knows what was asked for, but cannot do it yet."""


_CLASSES = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: InvalidArgument,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhausted,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.CANCELLED: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.UNIMPLEMENTED: Unimplemented,
}


def error_of(rpc_error):
    """The typed exception for a grpc.RpcError."""
    trailing = rpc_error.trailing_metadata() or ()
    raw = next((value for key, value in trailing if key == "grpc-status-details-bin"), b"")
    violations, reason = parse_status_details(raw)
    message = rpc_error.details() or rpc_error.code().name
    for field, description in violations:
        if description not in message:
            message += f"; {field}: {description}"
    return _CLASSES.get(rpc_error.code(), NormdError)(
        message,
        field=violations[0][0] if violations else "",
        reason=reason,
        code=rpc_error.code(),
    )
