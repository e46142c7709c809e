"""What the document says on the whole: means, bands of width, who wins where, odd widths. Pure."""

import collections
import math

from bench.compare import results, statistics
from bench.compare.grid import ELEMENT_BYTES, LARGE_BYTES, ODD_WIDTHS, Case

# The libraries that texts on LayerNorm compare with.
USUAL_PEERS = ("torch_eager", "torch_compile", "liger", "triton_tiles", "triton_welford",
               "triton_row")

# Columns up to which a band goes, and what of the copy is aimed at there, for large batches.
BANDS = ((8192, 0.97), (16384, 0.93), (262144, 0.85))

ROW_EDGES = (1, 16, 128, 1024, 8192, 65536)
COLUMN_EDGES = (128, 512, 1024, 4096, 8192, 16384, 65536)


def tensor_bytes(row):
    return row["rows"] * row["columns"] * ELEMENT_BYTES[row["dtype"]]


def is_large(row):
    """Of the part of the grid in which every width moves 128 MiB each way."""
    return 0.9 * LARGE_BYTES <= tensor_bytes(row) <= LARGE_BYTES


def entries(document, state):
    """(row, entry) of all rows that have figures in this cache state."""
    if state == "cold":
        return [(row, row) for row in document["rows"]]
    return [(row, row["warm"]) for row in document["rows"] if row["warm"] is not None]


def of_copy(entry):
    return entry["copy_ns"] / entry["ours_ns"] if entry["copy_ns"] and entry["ours_ns"] else None


def mean(values):
    """(geometric mean, count) of those that are known."""
    known = [value for value in values if value is not None]
    return statistics.geometric_mean(known), len(known)


def speeds(document, state, among=None):
    """(times as fast as the best of them, row, entry), the slowest first."""
    found = [(results.speed_over_best(entry, among), row, entry)
             for row, entry in entries(document, state)]
    return sorted((one for one in found if one[0] is not None), key=lambda one: one[0])


def against(document, state, name):
    """Times as fast as one peer, where it is right."""
    return [results.speed_over_best(entry, (name,)) for _, entry in entries(document, state)]


def bands(document):
    """Of each band of widths, for large batches in their plain form: (from, to, aim, its shares of
    the copy with their rows)."""
    found, low = [], 1
    for high, aim in BANDS:
        rows = [row for row in document["rows"] if is_large(row) and plain(row) and
                low <= row["columns"] <= high and of_copy(row)]
        found.append((low, high, aim, [(of_copy(row), row) for row in rows]))
        low = high + 1
    return found


def plain(row):
    odd = row["columns"] in ODD_WIDTHS
    return (row["affine"], row["stats"], row["shift"]) == ("both", "none", 0) and not odd


def cell_of(value, edges):
    """The number of the first edge that the value does not pass; one more if it passes all."""
    return next((number for number, edge in enumerate(edges) if value <= edge), len(edges))


def winners_map(document):
    """{(row cell, column cell): {template: how often it won}}."""
    found = collections.defaultdict(collections.Counter)
    for row in document["rows"]:
        if row["candidate"]:
            cell = (cell_of(row["rows"], ROW_EDGES), cell_of(row["columns"], COLUMN_EDGES))
            found[cell][row["candidate"].split(" ")[0]] += 1
    return dict(found)


def odd_ratios(document):
    """[(row, share of the even neighbour's speed for each element)], where both were measured."""
    by_case = {results.case_key(row): row for row in document["rows"]}
    found = []
    for row in document["rows"]:
        even = ODD_WIDTHS.get(row["columns"])
        if even is None or not row["ours_ns"]:
            continue
        rows = LARGE_BYTES // (even * ELEMENT_BYTES[row["dtype"]])
        case = Case(row["dtype"], rows, even)
        beside = by_case.get((case.dtype, case.rows, case.columns, "both", "none", 0))
        if beside and beside["ours_ns"]:
            share = ns_per_element(beside) / ns_per_element(row)
            found.append((row, share if math.isfinite(share) else None))
    return found


def ns_per_element(row):
    return row["ours_ns"] / (row["rows"] * row["columns"])
