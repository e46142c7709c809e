"""A run on a GPU: from the options to the document, its table and plots."""

import datetime
import pathlib
import shlex
import sys
import time

from bench.compare import peers, plots, results, table
from bench.compare.options import cases_of
from bench.compare.winner import TunerOptions, TuningFailed, find_winner, program_version

DONE, FAILED, UNFIT, UNFINISHED = 0, 1, 2, 3


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def say(words):
    print(words, file=sys.stderr, flush=True)


class Run:
    def __init__(self, options, chosen, session, marker):
        self.options = options
        self.session = session
        self.marker = marker
        self.began = time.monotonic()
        self.tuner = TunerOptions(
            normctl=options.normctl, store=options.store, budget=options.budget,
            bucket_mode=options.bucket_mode, device=session.uuid, device_name=session.gpu,
            again=options.again)
        name = f"compare-{results.slug(session.gpu)}"
        self.path = pathlib.Path(options.out) / f"{name}.json"
        part = f"{name}.slice-{options.slice.replace('/', '-of-')}.json"
        self.part_path = self.path.with_name(part)
        self.versions = versions(chosen, options.normctl)

    def new_document(self):
        return {"format": results.FORMAT, "gpu": self.session.gpu,
                "driver": self.session.driver_words(), "versions": self.versions, "date": now(),
                "command": shlex.join(["python3", "-m", "bench.compare", *sys.argv[1:]]),
                "l2_bytes": self.session.l2_bytes,
                "reference_copy": {"bytes": 128 << 20, "ns": None}, "not_installed": {},
                "slices": [], "rows": []}

    def begin_part(self, reference_ns):
        """The unfinished part if it is to go on and still fits, else a new one."""
        if self.options.resume and self.part_path.exists():
            part = results.read(self.part_path)
            same = not results.difference(part, self.new_document())
            if same and results.reference_agrees(part["reference_copy"]["ns"], reference_ns):
                return part
            say("the unfinished slice is of another driver, version or clock; beginning anew")
        part = self.new_document()
        part["reference_copy"]["ns"] = round(reference_ns, 1)
        return part

    def out_of_time(self):
        limit = self.options.time_limit
        return limit is not None and time.monotonic() - self.began > limit

    def measure(self, cases):
        """The finished part, or None when the time ran out."""
        from bench.compare.case_run import CaseRun
        begin_ns = self.session.reference_ns()
        part = self.begin_part(begin_ns)
        case_run = CaseRun(self.session, self.tuner, self.options.contender_ms)
        done = {results.case_key(row) for row in part["rows"]}
        for number, case in enumerate(cases, 1):
            if (case.dtype, case.rows, case.columns, case.affine, case.stats) in done:
                continue
            if self.out_of_time():
                say(f"time is up: {len(cases) - len(part['rows'])} shapes are left")
                return None
            row = case_run.row(case)
            part["rows"].append(row)
            part["not_installed"] = self.session.not_installed
            results.write(self.part_path, part)
            say(progress(number, len(cases), case, row, time.monotonic() - self.began))
        part["slices"].append({
            "slice": self.options.slice, "date": now(), "command": part["command"],
            "reference_begin_ns": round(begin_ns, 1),
            "reference_end_ns": round(self.session.reference_ns(), 1)})
        results.write(self.part_path, part)
        return part

    def merge(self, part):
        """The document with this part in it; the part's own file is then no longer needed."""
        results.check_reference(part, part["slices"][-1]["reference_end_ns"], "at the slice's end")
        document = part
        if self.path.exists() and not self.options.fresh:
            document = results.merge(results.read(self.path), part)
        wrong = results.complaints(document)
        if wrong:
            raise results.MergeRefused("; ".join(wrong[:5]))
        results.write(self.path, document)
        self.part_path.unlink(missing_ok=True)
        self.marker.remove()
        return document

    def tune_only(self, cases):
        failures = 0
        for number, case in enumerate(cases, 1):
            if self.out_of_time():
                return UNFINISHED
            try:
                say(f"{number}/{len(cases)} {case}: {find_winner(self.tuner, case).candidate}")
            except (TuningFailed, OSError, ValueError) as error:
                failures += 1
                say(f"{number}/{len(cases)} {case}: {error}")
        return FAILED if failures else DONE

    def check(self):
        """The table of errors, merged into the document if there is one."""
        from bench.compare import accuracy
        errors = accuracy.rows_of(self.session, self.tuner)
        print(table.errors_table(errors))
        if self.path.exists():
            document = results.read(self.path)
        else:
            # Later slices are held to its reference copy.
            document = self.new_document()
            document["reference_copy"]["ns"] = self.session.reference_ns()
        document["errors"] = errors
        results.write(self.path, document)
        return FAILED if any(row.get("note") for row in errors) else DONE


def versions(chosen, normctl):
    found = {"normd": program_version(normctl), "python": sys.version.split()[0]}
    for peer in chosen:
        version = peer.version()
        if version:
            found[peer.distribution] = version
    return found


def progress(number, count, case, row, seconds):
    best = results.best_peer(row)
    words = f"{number}/{count} {case}: copy {table.us(row['copy_ns'])} us"
    words += f", normd {table.us(row['ours_ns'])} us"
    if best:
        words += f", {best[0]} {table.us(best[1]['ns'])} us"
    if row.get("note"):
        words += f"; {row['note']}"
    return f"{words}  [{seconds:.0f} s]"


def our_failures(document):
    return [row for row in document["rows"] if row["ours_ns"] is None or row.get("wrong")]


def run(options):
    cases = cases_of(options)
    chosen = peers.choose(options.peers)
    try:
        import torch
        from bench.compare.session import DeviceLost, Marker, Session
    except ImportError as error:
        say(f"PyTorch and Triton are needed: {error}")
        return UNFIT
    if not torch.cuda.is_available():
        say("no CUDA device that PyTorch can use")
        return UNFIT
    if not pathlib.Path(options.normctl).exists():
        say(f"{options.normctl} is not there: build it, or name it by --normctl")
        return UNFIT
    marker_path = pathlib.Path(options.out) / f".{options.slice.replace('/', '-of-')}.running"
    if not options.resume:
        marker_path.unlink(missing_ok=True)
    marker = Marker(marker_path)
    one = Run(options, chosen, Session(chosen, marker), marker)
    try:
        return finish(one, cases)
    except DeviceLost as error:
        say(f"the device was lost ({error}); run again with --resume")
        return UNFINISHED


def finish(one, cases):
    if one.options.tune_only:
        return one.tune_only(cases)
    if one.options.check:
        return one.check()
    part = one.measure(cases)
    if part is None:
        return UNFINISHED
    try:
        document = one.merge(part)
    except results.MergeRefused as error:
        print(table.text_of(part))
        say(f"not merged: {error}; the slice stays in {one.part_path}")
        return FAILED
    print(table.text_of(document))
    for path in plots.write(document, one.path):
        say(f"wrote {path}")
    say(f"wrote {one.path}")
    return FAILED if our_failures(part) else DONE
