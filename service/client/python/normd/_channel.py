"""Where the daemon is, and one channel for each process."""

import os
import threading

import grpc

from .errors import InvalidArgument, Unavailable
from .v1 import normd_pb2, normd_pb2_grpc

MESSAGE_BYTES_MAX = 64 << 20

_SERVICE_CONFIG = """{
  "methodConfig": [{
    "name": [
      {"service": "normd.v1.Normd", "method": "Run"},
      {"service": "normd.v1.Normd", "method": "ListWinners"},
      {"service": "normd.v1.Normd", "method": "Explain"},
      {"service": "normd.v1.Normd", "method": "GetStatus"}
    ],
    "retryPolicy": {
      "maxAttempts": 4, "initialBackoff": "0.05s", "maxBackoff": "0.5s",
      "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]
    }
  }],
  "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}
}"""

_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    ("grpc.service_config", _SERVICE_CONFIG),
    ("grpc.enable_retries", 1),
    ("grpc.per_rpc_retry_buffer_size", MESSAGE_BYTES_MAX + (1 << 20)),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.enable_http_proxy", 0),
)


def find_socket(socket=None):
    """The address of the daemon: the argument, NORMD_SOCKET, or the first socket that is there."""
    given = socket or os.environ.get("NORMD_SOCKET")
    if given:
        given = os.fspath(given)
        if given.startswith(("unix:", "dns:", "ipv4:", "ipv6:")):
            return given
        if "/" in given:
            return "unix:" + given
        if ":" in given:
            return "dns:///" + given
        raise InvalidArgument(
            f"{given!r} is neither the path of a socket (with a '/') nor host:port", field="socket"
        )
    places = ["/run/normd/normd.sock"]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        places.insert(0, os.path.join(runtime, "normd/normd.sock"))
    for place in places:
        if os.path.exists(place):
            return "unix:" + place
    raise Unavailable(
        "no daemon's socket is at " + " or ".join(places) + "; is normd running?"
    )


class ChannelPerProcess:
    """Makes the channel when it is first used, and anew in a forked child.

    A channel does not survive fork(): its threads stay behind in the parent.
    """

    def __init__(self, target):
        self.target = target
        self._lock = threading.Lock()
        self._pid = None
        self._channel = None
        self._stub = None

    def stub(self):
        if self._pid != os.getpid():
            # A lock that another thread held at the fork stays locked in the child.
            self._lock = threading.Lock()
        with self._lock:
            if self._pid != os.getpid():
                # The parent's channel is neither used nor closed here: it belongs to the parent.
                # Over a Unix socket the daemon cannot tell its clients apart by anything else.
                agent = ("grpc.secondary_user_agent", f"normd-python/{os.getpid()}")
                self._channel = grpc.insecure_channel(self.target, options=(*_OPTIONS, agent))
                self._stub = normd_pb2_grpc.NormdStub(self._channel)
                # Requests of Run come serialised, which saves two copies of x.
                self._stub.Run = self._channel.unary_unary(
                    "/normd.v1.Normd/Run",
                    response_deserializer=normd_pb2.RunResponse.FromString,
                )
                self._pid = os.getpid()
            return self._stub

    def close(self):
        if self._pid == os.getpid() and self._channel is not None:
            self._channel.close()
        self._pid = self._channel = self._stub = None
