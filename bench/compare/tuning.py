"""Winners as a user of the daemon gets them: a daemon of this run's own tunes the cases on all its
devices, by `normctl tune`, and is gone before anything is timed. What its store has is not tuned
again. Neither torch nor a GPU is used here."""

import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import threading

CALLS_AHEAD = 2  # of one device, so that it never waits for a program to start
READY_S = 120


class TuningFailed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class TunerOptions:
    normctl: str
    store: str
    devices: tuple = ("0",)  # indices as the daemon counts them
    budget: str = ""         # of one tuning; empty: the daemon's own
    bucket_mode: str = "single_row_count"
    template: str = ""       # only this one's candidates
    again: bool = False


@dataclasses.dataclass(frozen=True)
class Tuned:
    """Of one case: the key of its winner, or why there is none."""

    key: str = ""
    why: str = ""


def problem_flags(case, bucket_mode):
    affine = "both" if case.affine == "both_fp32" else case.affine
    flags = [f"{case.rows}x{case.columns}", "--dtype", case.dtype, "--affine", affine,
             "--stats", case.stats, "--bucket-mode", bucket_mode]
    if case.affine == "both_fp32":
        flags += ["--gamma-dtype", "fp32", "--beta-dtype", "fp32"]
    if case.shift:
        flags += ["--align-bytes", str(case.align_bytes)]
    return flags


class TunerDaemon:
    """normd on this run's store, serving nobody else, for as long as the `with` lasts."""

    def __init__(self, options):
        self.options = options

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="normd-")
        self.socket = os.path.join(self.folder.name, "socket")
        self.log = pathlib.Path(self.folder.name) / "log"
        program = pathlib.Path(self.options.normctl).with_name("normd")
        command = [str(program), "--socket", self.socket, "--store", self.options.store,
                   "--devices", ",".join(self.options.devices), "--log-level", "warning"]
        try:
            with self.log.open("w", encoding="utf-8") as log:
                self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                                stderr=log)
        except OSError as error:
            raise TuningFailed(f"{program}: {error}") from error
        alarm = threading.Timer(READY_S, self.process.kill)
        alarm.start()
        ready = self.process.stdout.readline()
        alarm.cancel()
        if not ready.startswith("normd ready"):
            self.__exit__()
            raise TuningFailed(f"normd did not start: {self.last_words}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        self.last_words = lines[-1] if lines else f"exit status {self.process.returncode}"
        self.folder.cleanup()
        return False

    def tune(self, case, device):
        options = self.options
        command = [options.normctl, "tune", *problem_flags(case, options.bucket_mode),
                   "--socket", self.socket, "--device", device, "--json"]
        if options.budget:
            command += ["--budget", options.budget]
        if options.template:
            command += ["--template", options.template]
        if options.again:
            command += ["--again"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            complaint = done.stderr.strip() or f"exit status {done.returncode}"
            return Tuned(why=complaint.splitlines()[-1])
        answer = json.loads(done.stdout)
        key = (answer.get("winner") or {}).get("key", "")
        return Tuned(key=key) if key else Tuned(why="the tuning ended without a winner")


def tune_all(options, cases, out_of_time=lambda: False, tell=lambda case, tuned: None):
    """{case: Tuned}, without those that the time did not allow."""
    waiting = collections.deque(cases)
    found = {}
    lock = threading.Lock()

    def work(daemon, device):
        while not out_of_time():
            try:
                case = waiting.popleft()
            except IndexError:
                return
            tuned = daemon.tune(case, device)
            with lock:
                found[case] = tuned
                tell(case, tuned)

    with TunerDaemon(options) as daemon:
        threads = [threading.Thread(target=work, args=(daemon, device))
                   for device in options.devices for _ in range(CALLS_AHEAD)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


def cuda_devices(normctl):
    """What `normctl devices` says of each CUDA device, in its order."""
    done = subprocess.run([normctl, "devices", "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return []
    return [one for one in json.loads(done.stdout)["devices"] if one["kind"] == "cuda"]


def program_version(normctl):
    done = subprocess.run([normctl, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.strip() or "unknown").splitlines()[0]
