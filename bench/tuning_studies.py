"""What bench/tuning_study.cc printed, as figures: whether tunings repeat, what they miss, how they
keep their budget, and what a bucket costs. Pure; no GPU.

    python3 -m bench.tuning_studies --gpu H200 --about 'driver 580.159.04, 2026-12-01' \\
        lives.txt truth.txt buckets.txt --out bench/results
"""

import argparse
import collections
import json
import math
import pathlib
import sys

LIFE_FIELDS = 13
TIME_FIELDS = 8


class Unreadable(Exception):
    """A line that is none, with where it stands."""


def records(text, name):
    """The lines as lists of fields, checked for their number."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split("\t")
        wanted = {"life": LIFE_FIELDS, "truth": TIME_FIELDS, "bucket": TIME_FIELDS}.get(fields[0])
        if wanted is None or len(fields) != wanted:
            raise Unreadable(f"{name}:{number}: expected a line of tuning_study, got "
                             f"'{line[:60]}'")
        found.append(fields)
    return found


def lives_of(lines):
    """By shape: each life's winner, default, ties and times."""
    shapes = collections.defaultdict(list)
    for fields in lines:
        if fields[0] != "life":
            continue
        course = [tuple(map(float, part.split(":"))) for part in fields[12].split(",") if part]
        shapes[f"{fields[2]} {fields[3]}"].append({
            "winner": fields[4], "default": fields[5],
            "ties": [tie for tie in fields[6].split(";") if tie],
            "budget_ms": int(fields[7]), "elapsed_ms": int(fields[8]), "first_ms": int(fields[9]),
            "rounds_kept": int(fields[10]), "rounds_discarded": int(fields[11]),
            "close_ms": close_ms(course)})
    return dict(shapes)


def close_ms(course):
    """When the best one known was first at 0.97 of the best of this tuning; None without one."""
    if not course:
        return None
    return next(ms for ms, ns in course if ns <= course[-1][1] / 0.97)


def times_of(lines, kind):
    """{shape: {edge: {candidate: [median ns]}}}; an edge is (rows, cache, whether it decides)."""
    shapes = collections.defaultdict(lambda: collections.defaultdict(dict))
    for fields in lines:
        if fields[0] == kind:
            rows, cache, decides = fields[2].split(":")
            shapes[fields[1]][(int(rows), cache, decides == "decides")].setdefault(
                fields[3], []).append(float(fields[4]))
    return shapes


def percentile(values, share):
    """The smallest value that at least this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def repeats(lives):
    """Per shape: in how many lives the winner was the most frequent one, or tied with it."""
    rows = []
    for shape, of_shape in lives.items():
        counts = collections.Counter(life["winner"] for life in of_shape)
        usual = counts.most_common(1)[0][0]
        tied = {tie for life in of_shape if life["winner"] == usual for tie in life["ties"]}
        same = sum(life["winner"] == usual for life in of_shape)
        alike = sum(life["winner"] == usual or life["winner"] in tied or usual in life["ties"]
                    for life in of_shape)
        rows.append({"shape": shape, "lives": len(of_shape), "winner": usual, "same": same,
                     "same_or_tie": alike})
    return rows


def loss(times, candidate):
    """Its time over the best one's, at the edge where that is worst."""
    return max(of_edge[candidate][0] / min(all_of[0] for all_of in of_edge.values())
               for of_edge in times.values())


def regrets(lives, truth):
    """Per life: how much more than the least possible loss its winner has, and its time over the
    default's where that is worst among the edges that decide."""
    rows = []
    for shape, of_shape in lives.items():
        times = truth.get(shape)
        if not times:
            continue
        candidates = set.intersection(*(set(of_edge) for of_edge in times.values()))
        least = min(loss(times, candidate) for candidate in candidates)
        for life in of_shape:
            if not {life["winner"], life["default"]} <= candidates:
                rows.append({"shape": shape, "winner": life["winner"], "regret": None})
                continue
            rows.append({
                "shape": shape, "winner": life["winner"],
                "regret": loss(times, life["winner"]) / least - 1,
                "over_default": max(of_edge[life["winner"]][0] / of_edge[life["default"]][0] - 1
                                    for edge, of_edge in times.items() if edge[2])})
    return rows


def bucket_regrets(lines):
    """Per shape: the bucket's winner over the shape's own, at the edges that decide. The two stand
    in this order, also where they are one."""
    rows = []
    pending = {}
    for fields in lines:
        if fields[0] != "bucket":
            continue
        place = (fields[1], fields[2])
        if place not in pending:
            pending[place] = fields
            continue
        first = pending.pop(place)
        if fields[2].endswith(":decides"):
            rows.append({"shape": fields[1], "edge": fields[2], "of_bucket": first[3],
                         "of_shape": fields[3],
                         "regret": float(first[4]) / float(fields[4]) - 1})
    return rows


def documents(lines):
    """The three documents' figures, by name; those without data are left out."""
    lives = lives_of(lines)
    found = {}
    if lives:
        rows = repeats(lives)
        everyone = [life for of_shape in lives.values() for life in of_shape]
        close = [life["close_ms"] for life in everyone if life["close_ms"] is not None]
        found["repeat"] = {
            "tunings": len(everyone), "shapes": len(lives),
            "same": sum(row["same"] for row in rows) / len(everyone),
            "same_or_tie": sum(row["same_or_tie"] for row in rows) / len(everyone),
            "overrun_max": max(life["elapsed_ms"] / life["budget_ms"] for life in everyone) - 1,
            "elapsed_ms_median": percentile([life["elapsed_ms"] for life in everyone], 0.5),
            "first_ms_median": percentile([life["first_ms"] for life in everyone], 0.5),
            "first_ms_p95": percentile([life["first_ms"] for life in everyone], 0.95),
            "close_ms_median": percentile(close, 0.5) if close else None,
            "close_ms_p95": percentile(close, 0.95) if close else None,
            "rounds_kept": sum(life["rounds_kept"] for life in everyone),
            "rounds_discarded": sum(life["rounds_discarded"] for life in everyone),
            "rows": rows}
    truth = times_of(lines, "truth")
    rows = regrets(lives, truth) if truth else []
    known = [row for row in rows if row["regret"] is not None]
    if rows:
        found["regret"] = {"tunings": len(known), "not_known": len(rows) - len(known)}
    if known:
        found["regret"] |= {
            "regret_median": percentile([row["regret"] for row in known], 0.5),
            "regret_p95": percentile([row["regret"] for row in known], 0.95),
            "regret_max": max(row["regret"] for row in known),
            "over_default_max": max(row["over_default"] for row in known), "rows": rows}
    rows = bucket_regrets(lines)
    if rows:
        found["buckets"] = {
            "points": len(rows), "regret_median": percentile([row["regret"] for row in rows], 0.5),
            "regret_p95": percentile([row["regret"] for row in rows], 0.95),
            "regret_max": max(row["regret"] for row in rows), "rows": rows}
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="what tuning_study printed")
    parser.add_argument("--gpu", required=True, help="for the files' names, such as H200")
    parser.add_argument("--about", default="", help="driver, date, commands: kept with the figures")
    parser.add_argument("--out", type=pathlib.Path, help="where repeat-GPU.json and so on go")
    options = parser.parse_args(arguments)
    try:
        lines = [fields for name in options.files
                 for fields in records(pathlib.Path(name).read_text(encoding="utf-8"), name)]
    except (OSError, Unreadable) as error:
        print(f"tuning_studies: {error}", file=sys.stderr)
        return 2
    for name, document in documents(lines).items():
        figures = {key: value for key, value in document.items() if key != "rows"}
        print(name, json.dumps(figures))
        if options.out:
            path = options.out / f"{name}-{options.gpu.lower()}.json"
            whole = {"gpu": options.gpu, "about": options.about, **document}
            path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
