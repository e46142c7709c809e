"""The generated parts of docs/performance.md, each between two markers; what people wrote around
them stays. Pure.

    <!-- compare: NAME -->
    ...
    <!-- end of NAME -->
"""

import os
import pathlib
import re

from bench.compare import findings, results, table
from bench.compare.grid import ODD_WIDTHS
from bench.compare.table import name_of, peer_names, ratio, us

WORST = 10
STATES = (("cold", "cold"), ("warm", "in the cache"))


def lines_of(headings, rows):
    """A table; numbers to the right."""
    rule = ["---" if heading in table.LEFT else "---:" for heading in headings]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [headings, rule, *rows]) + "\n"


def share(value):
    return "-" if value is None else f"{value:.3f}"


def made_with(document):
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    references = {one["device"]: one["begin_ns"] for measured in reversed(document["slices"])
                  for one in measured["reference"]}
    copies = ", ".join(us(ns) for ns in references.values())
    missing = ", ".join(f"{name} ({why})" for name, why in document["not_installed"].items())
    return (f"{document['gpu']}, driver {document['driver']}, {document['date'][:10]}; {versions}. "
            f"The copy of 128 MiB each way took {copies} us ({len(references)} GPU"
            f"{'s' if len(references) > 1 else ''}). Not installed: {missing or 'none'}.\n\n"
            + "".join(f"    {measured['command']}\n" for measured in document["slices"]))


def means(document):
    rows = []
    usual = [name for name in findings.USUAL_PEERS if name in peer_names(document)]
    sets = [(f"the best of {', '.join(usual)}", usual), ("the best of all", None)]
    sets += [(name, (name,)) for name in peer_names(document)]
    for words, among in sets:
        cells = [words]
        for state, _ in STATES:
            found = findings.speeds(document, state, among)
            value, count = findings.mean(speed for speed, _, _ in found)
            slower = sum(table.passes(entry, among) is False for _, _, entry in found)
            cells += [ratio(value), str(count), str(slower)]
        rows.append(cells)
    cells = ["the copy"]
    for state, _ in STATES:
        value, count = findings.mean(findings.of_copy(entry)
                                     for _, entry in findings.entries(document, state))
        cells += [ratio(value), str(count), ""]
    headings = ["against"] + [f"{words}{tail}" for _, words in STATES
                           for tail in (", x", ", shapes", ", slower")]
    return lines_of(headings, [*rows, cells])


def against_copy(document):
    rows = []
    for low, high, aim, shares in findings.bands(document):
        if not shares:
            continue
        value, count = findings.mean(one for one, _ in shares)
        least, row = min(shares, key=lambda one: one[0])
        behind = sum(one < aim for one, _ in shares)
        rows.append([f"{low} to {high}", str(count), share(value), share(least), name_of(row),
                     f"{aim:.2f}", str(behind)])
    return lines_of(["columns", "shapes", "mean", "least", "shape", "aim", "below the aim"], rows)


def edge_names(edges):
    return [f"to {edge}" for edge in edges] + [f"over {edges[-1]}"]


def winners(document):
    won = findings.winners_map(document)
    columns = edge_names(findings.COLUMN_EDGES)
    rows = []
    for number, words in enumerate(edge_names(findings.ROW_EDGES)):
        cells = [won.get((number, cell), {}) for cell in range(len(columns))]
        rows.append([words] + [", ".join(f"{name} {count}" for name, count in
                                         sorted(cell.items(), key=lambda one: -one[1]))
                               for cell in cells])
    return lines_of(["rows \\ columns", *columns], rows)


def worst(document):
    rows = []
    for state, words in STATES:
        for speed, row, entry in findings.speeds(document, state)[:WORST]:
            best = results.best_peer(entry)
            rows.append([name_of(row), words, share(speed), best[0], us(best[1]["ns"]),
                         us(entry["ours_ns"]), share(findings.of_copy(entry)),
                         "yes" if entry["overlaps"] else "", row["candidate"] or "-"])
    return lines_of(["shape", "cache", "x best", "best peer", "its us", "our us", "of copy",
                     "intervals meet", "winner"], rows)


def odd_widths(document):
    rows = [[row["dtype"], str(row["columns"]), str(ODD_WIDTHS[row["columns"]]),
             "aligned" if not row["shift"] else f"{row['shift']} element on", us(row["ours_ns"]),
             share(one), share(findings.of_copy(row)), ratio(results.speed_over_best(row))]
            for row, one in findings.odd_ratios(document)]
    return lines_of(["dtype", "columns", "even neighbour", "addresses", "our us", "of its speed",
                     "of copy", "x best"], rows)


def errors(document):
    return lines_of(*table.error_lines(document.get("errors", [])))


def shapes(document):
    headings, lines = table.shape_lines(document)
    return ("<details><summary>All shapes, in us</summary>\n\n" + lines_of(headings, lines) +
            "\n</details>\n")


PARTS = {"made with": made_with, "means": means, "against the copy": against_copy,
         "winners": winners, "worst": worst, "odd widths": odd_widths, "errors": errors,
         "shapes": shapes}


def plots(document_path, page_path):
    base = pathlib.Path(document_path)
    folder = os.path.relpath(base.parent, pathlib.Path(page_path).parent)
    return "\n".join(f"![{words}]({folder}/{base.stem}-{name}.svg)\n" for name, words in (
        ("throughput", "achieved TB/s over the columns"),
        ("speed", "times as fast as the best peer, over the columns")))


def update(document, document_path, page_path):
    """Writes every part anew that the page has markers for; ValueError for an unknown one."""
    path = pathlib.Path(page_path)

    def part(match):
        name = match.group(1)
        if name == "plots":
            text = plots(document_path, page_path)
        elif name in PARTS:
            text = PARTS[name](document)
        else:
            raise ValueError(f"{path}: there is no part '{name}'; there are plots, "
                             f"{', '.join(PARTS)}")
        return f"<!-- compare: {name} -->\n{text}<!-- end of {name} -->"

    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"<!-- compare: ([\w ]+) -->\n.*?<!-- end of \1 -->", part, text,
                           flags=re.DOTALL), encoding="utf-8")
