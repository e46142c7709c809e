"""What comes before the measurements, on the same devices: our winners are tuned, and meanwhile the
cores that are left have the libraries compile, so that measuring finds both done. Nothing is timed
for the document here."""

import os
import pathlib
import threading

from bench.compare import tuning
from bench.compare.measuring import say
from bench.compare.worker import prepare_order

# Of libraries that compile slowly, what is not done by then is done while measuring.
AFTER_TUNING_S = 120
COMPILERS_MAX = 8  # of the daemon for each device, as it says itself


def processes_each(options, cores, devices):
    """Preparing processes on each device: the cores that the tuner's compilers leave."""
    if options.prepare is not None:
        return options.prepare
    compilers = min(COMPILERS_MAX, max(2, cores // (2 * devices)))
    return max(1, (cores - devices * (compilers + 1)) // devices)


def forget_choices(folder):
    """Removes what a library's search, skipped here, would seem to have chosen: it searches in the
    process that measures."""
    for path in pathlib.Path(folder).rglob("*.best_config"):
        path.unlink(missing_ok=True)


class Preparing:
    """Runs on a thread of its own until it is done or told to stop."""

    def __init__(self, machine, cases, each):
        self.machine = machine
        self.cases = cases
        self.each = each
        self.enough = threading.Event()
        self.count = 0
        self.notes = {}
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self):
        with self.machine.fleet(self.each, "prepare", share_device=False) as fleet:
            fleet.work(self.cases, prepare_order, self._took,
                       lambda: self.enough.is_set() or self.machine.out_of_time())

    def _took(self, case, answer, why):
        self.count += 1
        for name, note in (answer["notes"] if answer else {"process": why}).items():
            if not note.startswith("unsupported"):
                self.notes.setdefault((name, note), case)

    def finish(self):
        """Waits a while for the rest and says how it went."""
        self.thread.join(timeout=AFTER_TUNING_S)
        self.enough.set()
        self.thread.join()
        say(f"prepared {self.count} of {len(self.cases)} shapes  [{self.machine.seconds():.0f} s]")
        for (name, note), case in self.notes.items():
            say(f"  {name}: {note} (such as {case})")


def tune_and_prepare(machine, cases):
    """{case: Tuned}, without those that the time did not allow."""
    each = processes_each(machine.options, os.cpu_count() or 1, len(machine.visible))
    if machine.options.tune_only or not any(peer.prepared for peer in machine.chosen):
        each = 0
    preparing = Preparing(machine, cases, each) if each and cases else None
    try:
        tuned = tune(machine, cases)
    finally:
        if preparing:
            preparing.finish()
            forget_choices(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    return tuned


def tune(machine, cases):
    count = 0

    def tell(case, tuned):
        nonlocal count
        count += 1
        if tuned.why or count % 20 == 0:
            say(f"tuned {count}/{len(cases)} {case} {tuned.why}  [{machine.seconds():.0f} s]")

    if not cases:
        return {}
    tuned = tuning.tune_all(machine.tuner, cases, machine.out_of_time, tell)
    say(f"tuned {len(tuned)} of {len(cases)} shapes  [{machine.seconds():.0f} s]")
    return tuned
