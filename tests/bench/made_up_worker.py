"""A process of a fleet that measures nothing: it answers as bench.compare.worker would. Settings:
`log` (a file where it notes its orders), `die_at` (columns at which it ends while `deaths` remain),
`reference` (readings of the reference copy, one after the other)."""

import json
import pathlib
import sys
import time

import sample_document


def row_of(case):
    made = sample_document.row(**case)
    return {**made, "candidate": "sub_warp"}


def main():
    settings = json.loads(sys.argv[1])
    deaths = pathlib.Path(settings["log"] + ".deaths")
    readings = iter(settings.get("reference", [65000.0] * 9))
    for line in sys.stdin:
        order = json.loads(line)
        with open(settings["log"], "a", encoding="utf-8") as log:
            log.write(f"{order['do']} {order.get('case', {}).get('columns', '')}\n")
        if order.get("case", {}).get("columns") == settings.get("die_at", 0):
            count = len(deaths.read_text(encoding="utf-8")) if deaths.exists() else 0
            if count < settings["deaths"]:
                deaths.write_text("x" * (count + 1), encoding="utf-8")
                sys.exit("made to die")
        time.sleep(settings.get("slow_s", 0))
        answer = {
            "hello": lambda: {"gpu": "NVIDIA H200", "device": settings["device"],
                              "driver": "13.0 (580.1)", "l2_bytes": 62914560},
            "reference": lambda: {"device": settings["device"], "ns": next(readings)},
            "measure": lambda: {"row": row_of(order["case"]), "not_installed": {"apex": "absent"}},
            "prepare": lambda: {"notes": {"liger": "error: made up"}},
        }[order["do"]]()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
