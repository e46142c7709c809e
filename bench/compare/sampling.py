"""Times contenders: each records its launches as a CUDA graph between two events, and all graphs
are replayed in turns. One thread, one stream."""

import collections
import contextlib
import dataclasses

import torch

from bench.compare import statistics
from bench.compare.turn import NoTurn

WARM_UPS = 2
ROUNDS_MIN = 15
ROUNDS_MAX = 60
SAMPLES_MIN = 7  # of a contender so slow that its time runs out


@dataclasses.dataclass
class Protocol:
    """How one case is sampled in one cache state."""

    launches: int           # in a sample
    sets: int               # of buffers, in rotation
    sweep: object = None    # run before each sample, to empty L2; or nothing
    contender_ns: float = 50e6
    turn: object = dataclasses.field(default_factory=NoTurn)  # taken for whatever is launched


class Recorded:
    """One contender's sample as a graph."""

    def __init__(self, driver, stream, contender, protocol):
        self.driver = driver
        self.stream = stream
        self.name = contender.name
        self.begin = driver.new_event()
        self.end = driver.new_event()
        self.by_round = {}
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream):
            with protocol.turn:
                for index in range(min(2, protocol.sets)):
                    contender.call(index)
                torch.cuda.synchronize()
            # Relaxed: libraries that load or configure kernels late may do so while recording.
            self.graph.capture_begin(capture_error_mode="relaxed")
            try:
                self._launch_all(contender, protocol)
            except BaseException:
                # The first failure is the one to tell; an end that fails too is its echo.
                with contextlib.suppress(RuntimeError):
                    self.graph.capture_end()
                raise
            self.graph.capture_end()
        self.launches = protocol.launches
        with protocol.turn:
            for _ in range(WARM_UPS):
                self.first_ns = self.sample()

    def _launch_all(self, contender, protocol):
        """What one launch writes stays until its buffer set comes round again, so that libraries
        that make y themselves spread over as much memory as those that are given it."""
        kept = collections.deque()
        if protocol.sweep is not None:
            protocol.sweep()
        self.driver.record_in_graph(self.begin, self.stream.cuda_stream)
        for launch in range(protocol.launches):
            if len(kept) == protocol.sets:
                kept.popleft()
            kept.append(contender.call(launch % protocol.sets))
        self.driver.record_in_graph(self.end, self.stream.cuda_stream)

    def sample(self):
        with torch.cuda.stream(self.stream):
            self.graph.replay()
        self.driver.synchronize(self.stream.cuda_stream)
        return self.driver.elapsed_ns(self.begin, self.end) / self.launches

    def close(self):
        self.graph.reset()
        self.driver.destroy_event(self.begin)
        self.driver.destroy_event(self.end)


def rounds_for(recorded, protocol):
    fastest_ns = min(one.first_ns for one in recorded) * protocol.launches
    return int(max(ROUNDS_MIN, min(ROUNDS_MAX, protocol.contender_ns // fastest_ns)))


def samples_for(one, rounds, protocol):
    affordable = protocol.contender_ns // (one.first_ns * protocol.launches)
    return int(max(min(SAMPLES_MIN, rounds), min(rounds, affordable)))


def run_rounds(recorded, protocol, control):
    """All in turns, the order reversed each round. Returns the rounds that count."""
    rounds = rounds_for(recorded, protocol)
    counts = {one.name: samples_for(one, rounds, protocol) for one in recorded}
    counts[control] = rounds  # it says which rounds count
    for number in range(rounds):
        taking = [one for one in recorded
                  if statistics.takes_part(number, rounds, counts[one.name])]
        if number % 2 == 1:
            taking.reverse()
        with protocol.turn:
            if protocol.turn.shared and taking:
                taking[0].sample()  # what others left in the caches is not the first one's cost
            for one in taking:
                one.by_round[number] = one.sample()
    by_round = next((one.by_round for one in recorded if one.name == control), None)
    return statistics.quiet_rounds(by_round) if by_round else set(range(rounds))


def measure(recorded, protocol, control):
    """{name: (median, low, high)} in ns of one launch."""
    quiet = run_rounds(recorded, protocol, control)
    times = {}
    for one in recorded:
        samples = [ns for number, ns in one.by_round.items() if number in quiet]
        if samples:
            times[one.name] = statistics.median_interval(samples)
    return times
