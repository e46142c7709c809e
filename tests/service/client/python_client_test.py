"""The Python client against a fake daemon of a few lines, in this process."""

import concurrent.futures
import multiprocessing
import os
import threading

import grpc
import numpy
import pytest

import normd
from normd._status import parse_status_details
from normd.v1 import normd_pb2 as pb
from normd.v1 import normd_pb2_grpc


class FakeDaemon(normd_pb2_grpc.NormdServicer):
    """Gives x back as y, ones as statistics; keeps the last request; fails if told to."""

    def __init__(self):
        self.seen = None
        self.failure = None  # (code, message, details bytes)
        self.unavailable_times = 0
        self.runs = 0

    def Run(self, request, context):
        self.seen = request
        self.user_agent = dict(context.invocation_metadata())["user-agent"]
        self.runs += 1
        if self.runs <= self.unavailable_times:
            context.abort(grpc.StatusCode.UNAVAILABLE, "starting")
        if self.failure:
            code, message, details = self.failure
            context.set_trailing_metadata((("grpc-status-details-bin", details),))
            context.abort(code, message)
        problem = request.problem
        ones = numpy.ones(problem.rows, "<f4").tobytes()
        return pb.RunResponse(
            origin=pb.ORIGIN_FALLBACK,
            candidate="any_columns",
            kernel_ns=5,
            y=request.x,
            mean=ones if problem.want_mean else b"",
            rstd=ones if problem.want_rstd else b"",
        )

    def GetStatus(self, request, context):
        return pb.GetStatusResponse(version="9.9", pid=os.getpid())


@pytest.fixture
def daemon(tmp_path):
    fake = FakeDaemon()
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(2),
        options=[("grpc.max_receive_message_length", 64 << 20)],
    )
    normd_pb2_grpc.add_NormdServicer_to_server(fake, server)
    fake.socket = str(tmp_path / "normd.sock")
    server.add_insecure_port("unix:" + fake.socket)
    server.start()
    yield fake
    server.stop(None)


def test_an_array_goes_there_and_comes_back_in_its_shape_and_dtype(daemon):
    x = numpy.arange(24, dtype="float16").reshape(2, 3, 4)
    gamma = numpy.ones(4, "float32")
    y = normd.Client(daemon.socket).layer_norm(x, gamma, epsilon=1e-3, policy="wait")
    assert y.dtype == x.dtype and (y == x).all() and y.flags.writeable
    assert daemon.user_agent.endswith(f" normd-python/{os.getpid()}")
    problem = daemon.seen.problem
    assert (problem.rows, problem.columns) == (6, 4)
    assert (problem.x_dtype, problem.y_dtype) == (pb.DTYPE_FP16, pb.DTYPE_FP16)
    assert (problem.gamma_dtype, problem.beta_dtype) == (pb.DTYPE_FP32, pb.DTYPE_UNSPECIFIED)
    assert daemon.seen.policy == pb.POLICY_WAIT
    assert daemon.seen.epsilon == pytest.approx(1e-3)


def test_statistics_have_the_shape_of_the_rows(daemon):
    client = normd.Client(daemon.socket)
    y, mean, rstd = client.layer_norm(numpy.zeros((2, 3, 4), "float32"), return_stats=True)
    assert y.shape == (2, 3, 4) and mean.shape == (2, 3) and rstd.dtype == numpy.float32
    assert client.last.origin == "fallback" and client.last.kernel_ns == 5


def test_strided_and_transposed_arrays_are_sent_as_they_read(daemon):
    x = numpy.arange(12, dtype="float32").reshape(3, 4).T[:, ::2]
    assert (normd.Client(daemon.socket).layer_norm(x) == x).all()


def test_no_rows_give_an_empty_answer(daemon):
    y = normd.Client(daemon.socket).layer_norm(numpy.zeros((0, 1024), "float32"))
    assert y.shape == (0, 1024)


def test_an_epsilon_of_zero_is_sent(daemon):
    normd.Client(daemon.socket).layer_norm(numpy.ones((1, 2), "float32"), epsilon=0.0)
    assert daemon.seen.HasField("epsilon") and daemon.seen.epsilon == 0.0


def test_uint16_is_bf16_only_if_said_so(daemon):
    client = normd.Client(daemon.socket)
    x = numpy.array([[0x3F80, 0x4000]], "uint16")
    y = client.layer_norm(x, dtype="bf16")
    assert y.dtype == numpy.uint16 and daemon.seen.problem.x_dtype == pb.DTYPE_BF16
    with pytest.raises(normd.InvalidArgument, match="uint16") as raised:
        client.layer_norm(x)
    assert raised.value.field == "x"


@pytest.mark.parametrize("dtype", ["float64", "int32", ">f4", "bool", "object"])
def test_other_dtypes_are_refused_by_name(daemon, dtype):
    with pytest.raises(normd.InvalidArgument, match="expected float32") as raised:
        normd.Client(daemon.socket).layer_norm(numpy.zeros((1, 2), dtype))
    assert raised.value.field == "x" and daemon.runs == 0


def test_a_parameter_of_the_wrong_length_is_refused_unsent(daemon):
    with pytest.raises(normd.InvalidArgument, match=r"beta has shape \(3,\)") as raised:
        normd.Client(daemon.socket).layer_norm(
            numpy.zeros((2, 4), "float32"), beta=numpy.zeros(3, "float32")
        )
    assert raised.value.field == "beta" and daemon.runs == 0


def test_scalars_wrong_policies_and_large_arrays_are_refused_unsent(daemon):
    client = normd.Client(daemon.socket)
    with pytest.raises(normd.InvalidArgument, match="scalar"):
        client.layer_norm(numpy.float32(1))
    with pytest.raises(normd.InvalidArgument, match="policy"):
        client.layer_norm(numpy.zeros((1, 2), "float32"), policy="maybe")
    with pytest.raises(normd.ResourceExhausted, match="message_bytes_max"):
        client.layer_norm(numpy.zeros((1, (64 << 20) // 4), "float32"))
    assert daemon.runs == 0


def _length_delimited(number, data):
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def _bad_request(field, description):
    violation = _length_delimited(1, field) + _length_delimited(2, description)
    packed = _length_delimited(1, b"type.googleapis.com/google.rpc.BadRequest")
    packed += _length_delimited(2, _length_delimited(1, violation))
    return b"\x08\x03" + _length_delimited(3, packed)


def test_a_refused_field_is_named_by_the_exception(daemon):
    details = _bad_request(b"problem.columns", b"too many")
    daemon.failure = (grpc.StatusCode.INVALID_ARGUMENT, "columns: too many", details)
    with pytest.raises(normd.InvalidArgument) as raised:
        normd.Client(daemon.socket).layer_norm(numpy.zeros((1, 2), "float32"))
    assert raised.value.field == "problem.columns"
    assert raised.value.code == grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(raised.value, ValueError)


def test_damaged_details_never_raise():
    good = _bad_request(b"problem.columns", b"too many")
    random = numpy.random.default_rng(7)
    for _ in range(3000):
        data = bytearray(good[: random.integers(len(good) + 1)])
        for _ in range(3):
            if data:
                data[random.integers(len(data))] = random.integers(256)
        parse_status_details(bytes(data))


@pytest.mark.parametrize(
    "code, kind",
    [
        (grpc.StatusCode.FAILED_PRECONDITION, normd.FailedPrecondition),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, normd.ResourceExhausted),
        (grpc.StatusCode.UNIMPLEMENTED, normd.Unimplemented),
        (grpc.StatusCode.INTERNAL, normd.NormdError),
    ],
)
def test_each_code_has_its_exception(daemon, code, kind):
    daemon.failure = (code, "words", b"")
    with pytest.raises(kind, match="words"):
        normd.Client(daemon.socket).layer_norm(numpy.zeros((1, 2), "float32"))


def test_an_unavailable_daemon_is_asked_again(daemon):
    daemon.unavailable_times = 2
    normd.Client(daemon.socket).layer_norm(numpy.zeros((1, 2), "float32"))
    assert daemon.runs == 3


def test_no_daemon_is_said_in_words(tmp_path, monkeypatch):
    with pytest.raises(normd.Unavailable):
        normd.Client(tmp_path / "none.sock").status()
    monkeypatch.delenv("NORMD_SOCKET", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(normd.Unavailable, match="is normd running"):
        normd.Client()


def test_the_socket_is_found_by_variable_and_by_place(daemon, monkeypatch):
    monkeypatch.setenv("NORMD_SOCKET", daemon.socket)
    assert normd.Client().status().version == "9.9"
    monkeypatch.delenv("NORMD_SOCKET")
    runtime = os.path.dirname(daemon.socket)
    os.mkdir(os.path.join(runtime, "normd"))
    os.symlink(daemon.socket, os.path.join(runtime, "normd", "normd.sock"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    assert normd.Client().status().version == "9.9"


def test_threads_share_a_client(daemon):
    client = normd.Client(daemon.socket)
    failures = []

    def work(value):
        x = numpy.full((2, 8), value, "float32")
        for _ in range(20):
            if not (client.layer_norm(x) == x).all():
                failures.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def _use_in_child(client, queue):
    try:
        queue.put(client.layer_norm(numpy.ones((1, 4), "float32")).tolist())
    except BaseException as error:  # the parent must hear of anything
        queue.put(repr(error))


_SERVER = """
import concurrent.futures, sys, grpc, python_client_test as test
from normd.v1 import normd_pb2_grpc
server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
normd_pb2_grpc.add_NormdServicer_to_server(test.FakeDaemon(), server)
server.add_insecure_port("unix:" + sys.argv[1])
server.start()
print("up", flush=True)
server.wait_for_termination()
"""


@pytest.fixture
def other_process(tmp_path):
    """The fake daemon in a process of its own, as a real one is."""
    import subprocess
    import sys

    socket = str(tmp_path / "other.sock")
    server = subprocess.Popen(
        [sys.executable, "-B", "-c", _SERVER, socket],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(
            [os.path.dirname(os.path.abspath(__file__)), os.environ["PYTHONPATH"]])},
    )
    assert server.stdout.readline() == b"up\n"
    yield socket
    server.kill()
    server.wait()


def test_a_client_made_before_fork_works_in_the_child(other_process):
    client = normd.Client(other_process)  # not used yet: no channel
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_use_in_child, args=(client, queue))
    child.start()
    assert queue.get(timeout=30) == [[1, 1, 1, 1]]
    child.join(timeout=30)
    assert client.layer_norm(numpy.ones((1, 2), "float32")).tolist() == [[1, 1]]


def test_a_client_used_before_fork_works_in_the_child_and_still_in_the_parent(other_process):
    client = normd.Client(other_process)
    client.status()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_use_in_child, args=(client, queue))
    child.start()
    assert queue.get(timeout=30) == [[1, 1, 1, 1]]
    child.join(timeout=30)
    assert not child.is_alive()
    assert client.status().version == "9.9"


def test_torch_tensors_keep_their_kind(daemon):
    torch = pytest.importorskip("torch")
    x = torch.arange(8, dtype=torch.float32).reshape(2, 4).to(torch.bfloat16)
    y = normd.Client(daemon.socket).layer_norm(x)
    assert y.dtype == torch.bfloat16 and torch.equal(x, y)
    assert daemon.seen.problem.x_dtype == pb.DTYPE_BF16
