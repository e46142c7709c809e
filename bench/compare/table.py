"""The results as text: a table of shapes, a summary, the table of errors. Pure."""

from bench.compare import findings, results

GATE = 0.99  # of the best peer, unless the intervals overlap
WORST = 10


def us(ns):
    return "-" if ns is None else f"{ns / 1000:.2f}"


def ratio(value):
    return "-" if value is None else f"{value:.2f}"


def peer_cell(peer):
    if peer is None or peer["ns"] is None:
        return "-"
    return us(peer["ns"]) + ("!" if peer["wrong"] else "")


def peer_names(document):
    names = {}
    for row in document["rows"]:
        names.update(dict.fromkeys(row["peers"]))
    return list(names)


def passes(entry, among=None):
    """Whether the shape is at least GATE of the best peer or cannot be told apart from it; None
    where it cannot be said."""
    speed = results.speed_over_best(entry, among)
    return None if speed is None else speed >= GATE or bool(results.overlaps_best(entry, among))


def line_of(row, entry, state, names):
    best = results.best_peer(entry)
    verdict = {True: "", False: "slower", None: "?"}[passes(entry)]
    if row.get("wrong"):
        verdict = "WRONG"
    return [row["dtype"], str(row["rows"]), str(row["columns"]), row["affine"], row["stats"],
            str(row["shift"]), state, us(entry["copy_ns"]), us(entry["ours_ns"]),
            ratio(findings.of_copy(entry)), ratio(results.speed_over_best(entry)),
            best[0] if best else "-", verdict,
            *(peer_cell(entry["peers"].get(name)) for name in names)]


HEADINGS = ["dtype", "rows", "columns", "affine", "stats", "shift", "cache", "copy", "normd",
            "of copy", "x best", "best peer", ""]
LEFT = {"dtype", "affine", "stats", "cache", "best peer", "kind", "shape", "against", "winner",
        "addresses", "intervals meet", "rows \\ columns", ""}


def aligned(headings, lines):
    widths = [max(len(line[column]) for line in [headings, *lines])
              for column in range(len(headings))]

    def text(line):
        cells = [cell.ljust(width) if heading in LEFT else cell.rjust(width)
                 for cell, width, heading in zip(line, widths, headings)]
        return "  ".join(cells).rstrip()

    return "\n".join(text(line) for line in [headings, *lines]) + "\n"


def shape_lines(document):
    """Headings and the cells of each shape, a line for each cache state."""
    names = peer_names(document)
    lines = []
    for row in document["rows"]:
        lines.append(line_of(row, row, "cold", names))
        if row["warm"] is not None:
            lines.append(line_of(row, row["warm"], "warm", names))
    return HEADINGS + names, lines


def shapes_table(document):
    return aligned(*shape_lines(document))


def name_of(row):
    shift = f" shift={row['shift']}" if row.get("shift") else ""
    return f"{row['dtype']} {row['rows']}x{row['columns']} {row['affine']} {row['stats']}{shift}"


def summary_of(document, state):
    pairs = findings.entries(document, state)
    speeds = [(results.speed_over_best(entry), row) for row, entry in pairs]
    known = [(speed, row) for speed, row in speeds if speed is not None]
    lines = [f"{state}: {len(pairs)} shapes, {len(known)} with a peer"]
    if not known:
        return lines
    of_copy, _ = findings.mean(findings.of_copy(entry) for _, entry in pairs)
    over_best, _ = findings.mean(speed for speed, _ in known)
    lines.append(f"  geometric means: {of_copy or 0:.3f} of the copy, {over_best:.3f} x the best "
                 "peer")
    for name in peer_names(document):
        value, count = findings.mean(findings.against(document, state, name))
        if count:
            lines.append(f"    {value:.3f} x {name} ({count} shapes)")
    behind = [row for row, entry in pairs if passes(entry) is False]
    lines.append(f"  slower than {GATE} of the best peer, intervals apart: {len(behind)}")
    lines.append("  worst against the best peer:")
    for speed, row in sorted(known, key=lambda pair: pair[0])[:WORST]:
        lines.append(f"    {speed:.3f}  {name_of(row)}")
    return lines


def summary(document):
    lines = summary_of(document, "cold") + summary_of(document, "warm")
    for name, words in document["not_installed"].items():
        lines.append(f"not installed: {name} ({words})")
    notes = {}
    for row in document["rows"]:
        if row.get("note"):
            lines.append(f"normd at {name_of(row)}: {row['note']}")
        for name, peer in row["peers"].items():
            if peer.get("note"):
                notes.setdefault((name, peer["note"]), []).append(row)
    for (name, note), rows in notes.items():
        lines.append(f"{name}: {note} ({len(rows)} shapes, such as {name_of(rows[0])})")
    return "\n".join(lines) + "\n"


def error_cell(error):
    if error is None:
        return "-"
    return error if isinstance(error, str) else f"{error:.2g}"


def error_verdict(row):
    """Whether ours is larger than a peer's by more than half a unit; `?`: it cannot be said."""
    theirs = [error for error in row["peers"].values() if isinstance(error, float)]
    if row["normd"] is None:
        return "?"
    own = [row["normd"], *row.get("templates", {}).values()]
    if any(isinstance(error, str) for error in own):
        return "WRONG"
    return "larger" if theirs and max(own) > min(theirs) + row["half_unit"] else ""


def error_lines(errors):
    """Headings and the cells of each row."""
    templates = list(dict.fromkeys(name for row in errors for name in row.get("templates", {})))
    names = list(dict.fromkeys(name for row in errors for name in row["peers"]))
    headings = ["dtype", "columns", "kind", "half unit", "normd", *templates, *names, ""]
    lines = [[row["dtype"], str(row["columns"]), row["kind"], error_cell(row["half_unit"]),
              error_cell(row["normd"]),
              *(error_cell(row.get("templates", {}).get(name)) for name in templates),
              *(error_cell(row["peers"].get(name)) for name in names), error_verdict(row)]
             for row in errors]
    return headings, lines


def errors_table(errors):
    return aligned(*error_lines(errors))


def text_of(document):
    head = (f"{document['gpu']}, driver {document['driver']}, {document['date']}\n"
            f"times in us; ! marks a peer whose answer is wrong; 'x best': how many times as fast "
            "as the best right peer\n\n")
    text = head + shapes_table(document) + "\n" + summary(document)
    if document.get("errors"):
        text += "\nlargest error of y against float64\n\n" + errors_table(document["errors"])
    return text
