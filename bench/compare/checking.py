"""The errors of our winners, of each exact template's own winner and of every peer, on all kinds of
data, gathered from the processes of a fleet."""

import dataclasses
import pathlib

from bench.compare import hard_data, tuning
from bench.compare.measuring import say

TEMPLATE_BUDGET = "300ms"  # any sound candidate of a template will do


def winners_of(machine, cases):
    """{case: {name: (store, key, why)}}: normd's winner, and each exact template's from a store of
    its own, for a template's winner is not the shape's."""
    found = {case: {} for case in cases}

    def note(name, options):
        for case, tuned in tuning.tune_all(options, cases).items():
            found[case][name] = (options.store, tuned.key, tuned.why)
        say(f"{name}: tuned  [{machine.seconds():.0f} s]")

    note("normd", machine.tuner)
    for name in hard_data.EXACT_TEMPLATES:
        store = str(pathlib.Path(machine.tuner.store) / "templates" / name)
        note(name, dataclasses.replace(machine.tuner, template=name, store=store, again=False,
                                       budget=TEMPLATE_BUDGET))
    return found


def errors_of(machine):
    """(rows of errors, hello of a process, libraries that are not installed)."""
    cases = hard_data.cases()
    winners = winners_of(machine, cases)
    answers = {}

    def took(case, answer, why):
        answers[case] = answer or {"errors": [failed_row(case, why)], "not_installed": {}}
        say(f"{len(answers)}/{len(cases)} {case}  [{machine.seconds():.0f} s]")

    def order(case):
        return {"do": "check", "case": dataclasses.asdict(case), "winners": winners[case]}

    with machine.fleet(machine.options.processes, "check", share_device=True) as fleet:
        hello = fleet.ask_leaders({"do": "hello"})[0]
        fleet.work(cases, order, took)
    rows = [row for case in cases for row in answers[case]["errors"]]
    missing = {name: why for answer in answers.values()
               for name, why in answer["not_installed"].items()}
    return rows, hello, missing


def failed_row(case, why):
    return {"dtype": case.dtype, "rows": case.rows, "columns": case.columns, "kind": "all",
            "half_unit": 0.0, "normd": None, "templates": {}, "peers": {}, "note": why}
