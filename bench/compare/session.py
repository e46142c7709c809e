"""What all cases of one run share: the device, the stream, the peers and what is known of them."""

import contextlib
import dataclasses
import gc
import json
import math
import pathlib

import torch

from bench.compare import judge, ours, sampling
from bench.compare.contender import Contender, Outcome, Unsupported
from bench.compare.driver import Driver, management_version
from bench.compare.inputs import DEVICE, TORCH_DTYPE, Inputs, Sweep
from bench.compare.copies import CONTROL, copy_contenders
from bench.compare.grid import Case

RESERVED_BYTES_MAX = 20 << 30  # by one of the processes that share a device
ERRORS_MAX = 4  # of a peer one after the other, before it is left out of the rest
DEATHS_MAX = 2  # of a process in one contender's hands, before it is left out of that case

REFERENCE = Case("fp32", 32768, 1024)  # 128 MiB each way


class DeviceLost(Exception):
    """The CUDA context is gone for good: only a new process helps."""


class Marker:
    """Who runs, on disk: the process that comes after a crash or a hang knows whom to leave out."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.deaths = {}
        if self.path.exists():
            note = json.loads(self.path.read_text(encoding="utf-8") or "{}")
            self.deaths = note.get("deaths", {})
            if note.get("running"):
                self.deaths[note["running"]] = self.deaths.get(note["running"], 0) + 1

    def enter(self, case, name):
        self._write(f"{case} {name}")

    def leave(self):
        self._write("")

    def is_deadly(self, case, name):
        return self.deaths.get(f"{case} {name}", 0) >= DEATHS_MAX

    def remove(self):
        self.path.unlink(missing_ok=True)

    def _write(self, running):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"running": running, "deaths": self.deaths}),
                             encoding="utf-8")


@dataclasses.dataclass
class Entrant:
    """A contender with its outcome; no contender where it could not be made or failed."""

    outcome: Outcome
    contender: Contender | None = None


class Session:
    def __init__(self, peers, marker, turn):
        torch.cuda.init()
        torch.set_grad_enabled(False)
        properties = torch.cuda.get_device_properties(0)
        self.gpu = properties.name
        self.device = str(properties.uuid)[:8]  # tells the devices of one document apart
        self.turn = turn
        self.l2_bytes = properties.L2_cache_size
        self.driver = Driver()
        self.stream = torch.cuda.Stream()
        self.sweep = Sweep(self.l2_bytes)
        self.peers = peers
        self.marker = marker
        self.not_installed = {}
        self.errors = {}  # by peer, one after the other
        torch.cuda.synchronize()

    def driver_words(self):
        version = management_version()
        return self.driver.version() + (f" ({version})" if version else "")

    @contextlib.contextmanager
    def turn_taken(self):
        """For launches that are over when the turn is given back."""
        with self.turn:
            yield
            torch.cuda.synchronize()

    def protocol(self, **parts):
        return sampling.Protocol(turn=self.turn, **parts)

    def reference_ns(self):
        """The driver's copy of 128 MiB each way, by which slices are compared."""
        with self.turn_taken():
            inputs = Inputs(REFERENCE, 1)
        contender = next(one for one in copy_contenders(inputs, self.driver)
                         if one.name == CONTROL)
        # Measured twice, the first time to bring the device to its working temperature: cold, it
        # copies up to 2 % faster, and the begin of a slice would not agree with its end.
        for protocol in (self.protocol(launches=128, sets=1, contender_ns=1e9),
                         self.protocol(launches=4, sets=1, contender_ns=60e6)):
            recorded = [sampling.Recorded(self.driver, self.stream, contender, protocol)]
            times = sampling.measure(recorded, protocol, CONTROL)
            recorded[0].close()
        return times[CONTROL][0]

    def settle(self):
        """After something failed: whether the device still answers."""
        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            raise DeviceLost(str(error).splitlines()[0]) from error

    def guarded(self, case, name, action):
        """(what the action returns, "") or (None, why it failed)."""
        if self.marker.is_deadly(case, name):
            return None, f"left out: the process ended {DEATHS_MAX} times while it ran"
        self.marker.enter(case, name)
        try:
            return action(), ""
        except Unsupported as error:
            return None, f"unsupported: {error}"
        except Exception as error:  # whatever a library throws is its result
            self.settle()
            return None, f"error: {type(error).__name__}: {first_line(error)}"
        finally:
            self.marker.leave()

    def enter_ours(self, inputs, loaded):
        contender = loaded.contender(inputs)
        return self._judged(inputs, contender, strict=True)

    def enter_peer(self, inputs, peer):
        """None where the library is not installed."""
        if self.errors.get(peer.name, 0) >= ERRORS_MAX:
            return Entrant(Outcome(note=f"left out after {ERRORS_MAX} errors"))
        module = self._module(peer)
        if module is None:
            return None

        def make_and_judge():
            with torch.cuda.stream(self.stream):
                call = module.make(inputs.case, inputs)
            return self._judged(inputs, Contender(peer.name, call), strict=False)

        entrant, why = self.guarded(inputs.case, peer.name, make_and_judge)
        failed = why.startswith("error")
        self.errors[peer.name] = self.errors.get(peer.name, 0) + 1 if failed else 0
        return entrant or Entrant(Outcome(note=why))

    def _module(self, peer):
        """None, once and for all, where the library cannot be loaded: it is not installed."""
        if peer.name in self.not_installed:
            return None
        try:
            return peer.module()
        except Exception as error:  # whatever an import throws
            self.not_installed[peer.name] = f"{type(error).__name__}: {first_line(error)}"
            return None

    def prepare(self, case):
        """Has the libraries compile what their caches on disk keep for the next process; says by
        name which did not."""
        shape = (case.rows, case.columns)
        inputs = Inputs(case, 1, x=torch.empty(shape, dtype=TORCH_DTYPE[case.dtype], device=DEVICE))
        notes = {}
        for peer in self.peers:
            module = self._module(peer) if peer.prepared else None
            if module is None:
                continue

            def make_and_call(module=module):
                with torch.cuda.stream(self.stream):
                    module.make(case, inputs)(0)
                torch.cuda.synchronize()

            _, why = self.guarded(case, peer.name, make_and_call)
            if why:
                notes[peer.name] = why
        self.tidy()
        return notes

    def _judged(self, inputs, contender, strict):
        with self.turn_taken():
            inputs.ys[0].fill_(float("nan"))
        with torch.cuda.stream(self.stream):
            outputs = contender.call(0)
        torch.cuda.synchronize()
        with self.turn_taken():
            verdict = judge.judge(inputs, outputs, strict)
        error = verdict.error if math.isfinite(verdict.error) else None
        outcome = Outcome(error=error, wrong=verdict.wrong, note=verdict.words)
        return Entrant(outcome, contender)

    def load(self, winner):
        return ours.LoadedWinner(self.driver, winner)

    def tidy(self):
        gc.collect()
        if torch.cuda.memory_reserved() > RESERVED_BYTES_MAX:
            torch.cuda.empty_cache()


def first_line(error):
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else ""
