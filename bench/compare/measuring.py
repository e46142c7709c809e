"""Measures the cases of a slice and merges them into the document. Rows are kept in the slice's own
file as they come, so that --resume goes on where it ended, in whatever way."""

import datetime
import pathlib
import sys

from bench.compare import results, table
from bench.compare.grid import Case
from bench.compare.worker import measure_order

REFERENCE_READINGS_MAX = 3


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def say(words):
    print(words, file=sys.stderr, flush=True)


def case_of(row):
    return Case(*results.case_key(row))


class Measuring:
    def __init__(self, machine):
        self.machine = machine
        options = machine.options
        name = f"compare-{results.slug(machine.gpu)}"
        self.path = pathlib.Path(options.out) / f"{name}.json"
        part = f"{name}.slice-{options.slice.replace('/', '-of-')}.json"
        self.part_path = self.path.with_name(part)
        self.part = None
        if options.resume and self.part_path.exists():
            self.part = results.read(self.part_path)

    def left_of(self, cases):
        done = {case_of(row) for row in self.part["rows"]} if self.part else set()
        return [case for case in cases if case not in done]

    def run(self, todo, tuned):
        """The finished part, or None when the time ran out. Untuned cases are left for later."""
        machine = self.machine
        with machine.fleet(machine.options.processes, "measure", share_device=True) as fleet:
            hello = fleet.ask_leaders({"do": "hello"})[0]
            references = fleet.ask_leaders({"do": "reference"})
            self._begin_part(machine.new_document(hello), references)
            ready = [case for case in todo if case in tuned]
            left = fleet.work(ready, lambda case: measure_order(case, tuned[case]), self._took,
                              machine.out_of_time)
            self._end_slice(fleet)
        left = len(left) + len(todo) - len(ready)
        if left:
            say(f"time is up: {left} shapes are left; go on with --resume")
            return None
        return self.part

    def _begin_part(self, new, references):
        """The unfinished part if it still fits, else a new one; in it, a slice that begins."""
        if self.part:
            new["rows"] = []
            differing = results.difference(self.part, new)
            clocks = [one for one in references if not results.reference_agrees(
                results.known_reference_ns(self.part, one["device"]) or one["ns"], one["ns"])]
            if differing or clocks:
                say(f"the unfinished slice does not fit, {differing or 'the clocks differ'}: only "
                    "what is measured now counts; run again for the rest")
                self.part = None
        if not self.part:
            self.part = new
            self.part["reference_copy"]["ns"] = references[0]["ns"]
        self.part["slices"].append({
            "slice": self.machine.options.slice, "date": now(), "command": new["command"],
            "reference": [{"device": one["device"], "begin_ns": one["ns"], "end_ns": None}
                          for one in references]})

    def _took(self, case, answer, why):
        if answer is None:
            say(f"{case}: {why}")
            self.part["not_measured"] = {**self.part.get("not_measured", {}), str(case): why}
            return
        self.part["rows"].append(answer["row"])
        self.part["not_installed"].update(answer["not_installed"])
        results.write(self.part_path, self.part)
        say(progress(len(self.part["rows"]), case, answer["row"], self.machine.seconds()))

    def _end_slice(self, fleet):
        """The reference copies again; a reading that differs is taken anew, for a moment's noise
        is not another state of the device."""
        measured = self.part["slices"][-1]["reference"]
        for _ in range(REFERENCE_READINGS_MAX):
            for one, reading in zip(measured, fleet.ask_leaders({"do": "reference"})):
                one["end_ns"] = reading["ns"]
            if all(results.reference_agrees(one["begin_ns"], one["end_ns"]) for one in measured):
                break
        results.write(self.part_path, self.part)

    def merge(self):
        """The document with this part in it; the part's own file is then no longer needed."""
        results.check_references(self.part, self.part)
        document = self.part
        if self.path.exists() and not self.machine.options.fresh:
            document = results.merge(results.read(self.path), self.part)
        wrong = results.complaints(document)
        if wrong:
            raise results.MergeRefused("; ".join(wrong[:5]))
        results.write(self.path, document)
        self.part_path.unlink(missing_ok=True)
        return document


def progress(number, case, row, seconds):
    best = results.best_peer(row)
    words = f"{number} {case}: copy {table.us(row['copy_ns'])} us"
    words += f", normd {table.us(row['ours_ns'])} us"
    if best:
        words += f", {best[0]} {table.us(best[1]['ns'])} us"
    if row.get("note"):
        words += f"; {row['note']}"
    return f"{words}  [{seconds:.0f} s]"
