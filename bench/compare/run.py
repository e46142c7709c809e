"""A run: tunes and prepares, then measures in processes of its own, and puts their answers into the
document, its table and its plots. This process never touches a device."""

import importlib.util
import os
import pathlib
import shlex
import sys
import tempfile
import time

from bench.compare import peers, plots, results, table, tuning
from bench.compare.checking import errors_of
from bench.compare.fleet import Fleet, MemberLost
from bench.compare.measuring import Measuring, now, say
from bench.compare.options import ROOT, cases_of, chosen_devices
from bench.compare.preparing import tune_and_prepare

DONE, FAILED, UNFIT, UNFINISHED = 0, 1, 2, 3


class Machine:
    """What a run works with: the devices, the places, the clock."""

    def __init__(self, options, chosen, folder):
        self.options = options
        self.chosen = chosen
        self.folder = pathlib.Path(folder)
        self.began = time.monotonic()
        devices = tuning.cuda_devices(options.normctl)
        self.indices = chosen_devices(options.devices, len(devices))
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        self.visible = [visible[index] if index < len(visible) and visible[index] else str(index)
                        for index in self.indices]
        self.gpu = devices[self.indices[0]]["name"]
        self.tuner = tuning.TunerOptions(
            normctl=options.normctl, store=options.store, budget=options.budget,
            devices=tuple(str(index) for index in self.indices),
            bucket_mode=options.bucket_mode, again=options.again)
        self.versions = versions(chosen, options.normctl)

    def out_of_time(self):
        limit = self.options.time_limit
        return limit is not None and self.seconds() > limit

    def seconds(self):
        return time.monotonic() - self.began

    def fleet(self, each, name, share_device):
        """Processes of bench.compare.worker. With share_device they take turns on it, also for the
        searches that libraries make; else those are skipped."""
        def settings_of(number, visible):
            turn = self.folder / f"turn-{visible}" if share_device and each > 1 else ""
            return {"peers": ",".join(peer.name for peer in self.chosen),
                    "store": self.options.store, "contender_ms": self.options.contender_ms,
                    "marker": str(self.folder / f"{name}-{number}.running"), "turn": str(turn),
                    "searches": share_device}

        folder = self.folder / name
        folder.mkdir()
        return Fleet(self.visible, each, settings_of, folder)

    def new_document(self, hello):
        return {"format": results.FORMAT, "gpu": hello["gpu"], "driver": hello["driver"],
                "versions": self.versions, "date": now(),
                "command": shlex.join(["python3", "-m", "bench.compare", *sys.argv[1:]]),
                "l2_bytes": hello["l2_bytes"],
                "reference_copy": {"bytes": 128 << 20, "ns": None}, "not_installed": {},
                "slices": [], "rows": []}


def versions(chosen, normctl):
    found = {"normd": tuning.program_version(normctl), "python": sys.version.split()[0]}
    for peer in chosen:
        version = peer.version()
        if version:
            found[peer.distribution] = version
    return found


def caches_on_disk():
    """Where what the libraries compile goes from one process to the next."""
    base = ROOT / "build" / "compare-cache"
    os.environ.setdefault("TRITON_CACHE_DIR", str(base / "triton"))
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(base / "inductor"))
    # There are processes enough; each would otherwise start as many as there are cores.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")


def unfit(options):
    """Why nothing can be measured here, or an empty text."""
    for module in ("torch", "triton", "numpy"):
        if importlib.util.find_spec(module) is None:
            return f"this Python has no module {module}"
    if not pathlib.Path(options.normctl).exists():
        return f"{options.normctl} is not there: build it, or name it by --normctl"
    if not tuning.cuda_devices(options.normctl):
        return "no CUDA device"
    return ""


def run(options):
    cases = cases_of(options)
    chosen = peers.choose(options.peers)
    why = unfit(options)
    if why:
        say(why)
        return UNFIT
    caches_on_disk()
    with tempfile.TemporaryDirectory(prefix="compare-") as folder:
        machine = Machine(options, chosen, folder)
        try:
            if options.check:
                return check(machine)
            return measure(machine, cases)
        except (MemberLost, tuning.TuningFailed) as error:
            say(f"{error}")
            return FAILED


def measure(machine, cases):
    measuring = Measuring(machine)
    todo = measuring.left_of(cases)
    tuned = tune_and_prepare(machine, todo)
    failures = sum(not one.key for one in tuned.values())
    if machine.options.tune_only:
        if len(tuned) < len(todo):
            return UNFINISHED
        return FAILED if failures else DONE
    part = measuring.run(todo, tuned)
    if part is None:
        print(table.text_of(measuring.part))
        return UNFINISHED
    try:
        document = measuring.merge()
    except results.MergeRefused as error:
        print(table.text_of(part))
        say(f"not merged: {error}; the slice stays in {measuring.part_path}")
        return FAILED
    print(table.text_of(document))
    for path in plots.write(document, measuring.path):
        say(f"wrote {path}")
    say(f"wrote {measuring.path}  [{machine.seconds():.0f} s]")
    return FAILED if our_failures(part) or part.get("not_measured") else DONE


def our_failures(document):
    return [row for row in document["rows"] if row["ours_ns"] is None or row.get("wrong")]


def check(machine):
    """The table of errors, merged into the document if there is one."""
    errors, hello, not_installed = errors_of(machine)
    print(table.errors_table(errors))
    path = Measuring(machine).path
    document = results.read(path) if path.exists() else machine.new_document(hello)
    document["errors"] = errors
    document["not_installed"] = {**document["not_installed"], **not_installed}
    results.write(path, document)
    say(f"wrote {path}  [{machine.seconds():.0f} s]")
    return FAILED if any(row.get("note") for row in errors) else DONE
