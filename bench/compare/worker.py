"""python3 -m bench.compare.worker SETTINGS: the process of a fleet that uses one device. It reads
an order a line on standard input, answers each with a line of JSON, and ends with its input."""

import dataclasses
import json
import os
import sys

from bench.compare import peers
from bench.compare.grid import Case


def take_standard_output():
    """The answers' own channel: what libraries print goes to standard error instead."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


class Worker:
    def __init__(self, settings):
        from bench.compare import searches
        from bench.compare.case_run import CaseRun
        from bench.compare.session import Marker, Session
        from bench.compare.turn import NoTurn, Turn
        chosen = peers.choose(settings["peers"])
        turn = Turn(settings["turn"]) if settings["turn"] else NoTurn()
        if settings["searches"]:
            searches.hold(turn)
        else:
            searches.skip()
            os.nice(10)  # the tuner's workers, which are timed, go first
        self.session = Session(chosen, Marker(settings["marker"]), turn)
        self.case_run = CaseRun(self.session, settings["store"], settings["contender_ms"])

    def hello(self, _):
        session = self.session
        return {"gpu": session.gpu, "device": session.device, "driver": session.driver_words(),
                "l2_bytes": session.l2_bytes}

    def reference(self, _):
        return {"device": self.session.device, "ns": round(self.session.reference_ns(), 1)}

    def measure(self, order):
        row = self.case_run.row(Case(**order["case"]), order["key"], order["why"])
        return {"row": row, "not_installed": self.session.not_installed}

    def prepare(self, order):
        return {"notes": self.session.prepare(Case(**order["case"]))}

    def check(self, order):
        from bench.compare import accuracy
        return {"errors": accuracy.rows_of(self.session, Case(**order["case"]), order["winners"]),
                "not_installed": self.session.not_installed}

    def answer(self, order):
        return {"hello": self.hello, "reference": self.reference, "measure": self.measure,
                "prepare": self.prepare, "check": self.check}[order["do"]](order)


def measure_order(case, tuned):
    return {"do": "measure", "case": dataclasses.asdict(case), "key": tuned.key, "why": tuned.why}


def prepare_order(case):
    return {"do": "prepare", "case": dataclasses.asdict(case)}


def main():
    channel = take_standard_output()
    worker = Worker(json.loads(sys.argv[1]))
    for line in sys.stdin:
        channel.write(json.dumps(worker.answer(json.loads(line))) + "\n")
        channel.flush()


if __name__ == "__main__":
    main()
