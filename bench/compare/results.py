"""The results as a document: its schema, how slices merge, and its files. Pure; no torch."""

import json
import os
import pathlib
import re

from bench.compare import statistics

FORMAT = 1
REFERENCE_ALLOWANCE = 0.01

TOP = ("format", "gpu", "driver", "versions", "date", "command", "l2_bytes", "reference_copy",
       "not_installed", "slices", "rows")
ROW = ("dtype", "rows", "columns", "affine", "stats", "shift", "fits_l2", "copy_ns", "ours_ns",
       "interval", "candidate", "max_error", "overlaps", "peers", "warm")
WARM = ("copy_ns", "ours_ns", "interval", "overlaps", "peers")
PEER = ("ns", "interval", "error", "wrong")
CASE = ("dtype", "rows", "columns", "affine", "stats", "shift")
SAME = ("format", "gpu", "driver")  # in all slices of one document


class MergeRefused(Exception):
    pass


def slug(gpu):
    """`NVIDIA H200` as part of a file name: `h200`."""
    words = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    return words.removeprefix("nvidia-")


def case_key(row):
    return tuple(row[name] for name in CASE)


def best_peer(entry, among=None):
    """(name, its entry) of the fastest peer that is right, or None. `entry`: a row or its warm;
    `among`: names, or all."""
    timed = [(peer["ns"], name) for name, peer in entry["peers"].items()
             if peer["ns"] is not None and not peer["wrong"] and (not among or name in among)]
    return (min(timed)[1], entry["peers"][min(timed)[1]]) if timed else None


def speed_over_best(entry, among=None):
    """How many times as fast as the best peer we are; None where either is missing."""
    best = best_peer(entry, among)
    return best[1]["ns"] / entry["ours_ns"] if best and entry["ours_ns"] else None


def overlaps_best(entry, among=None):
    """Whether our interval meets the best peer's; None where either is missing."""
    best = best_peer(entry, among)
    if not best or entry["interval"] is None:
        return None
    ours, theirs = entry["interval"], best[1]["interval"]
    return statistics.overlap(ours, theirs)


def missing(names, entry, where):
    return [f"{where}: no '{name}'" for name in names if name not in entry]


def complaints(document):
    """What in the document is not as the schema says; empty if all is."""
    found = missing(TOP, document, "document")
    for number, row in enumerate(document.get("rows", [])):
        where = f"row {number}"
        found += missing(ROW, row, where)
        warm = row.get("warm")
        if warm is not None:
            found += missing(WARM, warm, f"{where} warm")
        for state, entry in (("", row), (" warm", warm)):
            for name, peer in ((entry or {}).get("peers") or {}).items():
                found += missing(PEER, peer, f"{where}{state} {name}")
        if row.get("fits_l2") and warm is None and row.get("copy_ns") is not None:
            found.append(f"{where}: fits in L2 but has no warm figures")
    keys = [case_key(row) for row in document.get("rows", []) if not missing(CASE, row, "")]
    if len(keys) != len(set(keys)):
        found.append("two rows are of one case")
    return found


def reference_agrees(reference_ns, measured_ns):
    return abs(measured_ns / reference_ns - 1) <= REFERENCE_ALLOWANCE


def known_reference_ns(document, device):
    """The reference copy of this device in the document, or None: it had no part in it yet."""
    for measured in document["slices"]:
        for one in measured["reference"]:
            if one["device"] == device:
                return one["begin_ns"]
    return None


def check_references(document, part):
    """That each device is, from begin to end and since the document began, in the same state."""
    for measured in part["slices"]:
        for one in measured["reference"]:
            known_ns = known_reference_ns(document, one["device"]) or one["begin_ns"]
            for when in ("begin", "end"):
                # Whoever was killed has measured no end.
                if not reference_agrees(known_ns, one[f"{when}_ns"] or known_ns):
                    raise MergeRefused(
                        f"the reference copy took {one[f'{when}_ns']:.0f} ns at the slice's {when} "
                        f"on device {one['device']}, {known_ns:.0f} ns in the document: more than "
                        f"{REFERENCE_ALLOWANCE:.0%} apart, the device is not in the same state")


def difference(document, part):
    """What keeps the two from being parts of one document; empty if nothing does. A library that
    only one of them had is no difference."""
    pairs = [(name, document[name], part[name]) for name in SAME]
    pairs += [(name, version, part["versions"][name])
              for name, version in document["versions"].items() if name in part["versions"]]
    return "; ".join(f"{name} was {before} and is {now}" for name, before, now in pairs
                     if before != now)


def merge(document, part):
    """The document with the rows of a later part in place of its own of the same cases."""
    differing = difference(document, part)
    if differing:
        raise MergeRefused(f"{differing}; --fresh begins a new document")
    check_references(document, part)
    rows = {case_key(row): row for row in document["rows"]}
    rows.update({case_key(row): row for row in part["rows"]})
    merged = dict(document)
    merged["rows"] = list(rows.values())
    merged["slices"] = document["slices"] + part["slices"]
    merged["versions"] = {**document["versions"], **part["versions"]}
    merged["not_installed"] = {**document["not_installed"], **part["not_installed"]}
    if part.get("not_measured") or document.get("not_measured"):
        merged["not_measured"] = {**document.get("not_measured", {}),
                                  **part.get("not_measured", {})}
    merged["date"] = part["date"]
    merged["command"] = part["command"]
    if part.get("errors") or document.get("errors"):
        merged["errors"] = part.get("errors") or document.get("errors")
    return merged


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def text_of(document):
    """JSON with one row a line, so that a change of one shape is a change of one line."""
    rest = {name: value for name, value in document.items() if name not in ("rows", "errors")}
    text = json.dumps(rest, indent=1)[:-2]
    for name in ("rows", "errors"):
        if name in document:
            lines = ",\n  ".join(json.dumps(row) for row in document[name])
            text += f',\n "{name}": [' + (f"\n  {lines}\n ]" if lines else "]")
    return text + "\n}\n"


def write(path, document):
    """Aside first, then renamed: a reader never sees half a document."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".json.new")
    aside.write_text(text_of(document), encoding="utf-8")
    os.replace(aside, path)
