"""The largest error of every contender on kinds of data from easy to hard; nothing is timed."""

import torch

from bench.compare import judge, ours
from bench.compare.grid import Case
from bench.compare.inputs import DEVICE, TORCH_DTYPE, Inputs
from bench.compare.winner import TuningFailed, find_winner

ROWS = 64
WIDTHS = (4096, 65536)
KINDS = {"normal": (0.0, 1.0), "mean 10": (10.0, 1.0), "mean 1e3": (1e3, 1.0),
         "mean 1000, sd 0.1": (1e3, 0.1), "mean 1e4": (1e4, 1.0), "mean 1e5": (1e5, 1.0),
         "mean 100, sd 0.01": (100.0, 0.01), "scale 1e18": (0.0, 1e18)}
FP16_MAX = 65504.0


def representable(dtype, mean, spread):
    """Whether the dtype reaches that far; how coarsely it stores the values is part of the kind."""
    return dtype != "fp16" or abs(mean) + 6 * spread < FP16_MAX


def kinds_of(dtype):
    return {kind: values for kind, values in KINDS.items() if representable(dtype, *values)}


def rows_of(session, tuner):
    """One row for each dtype, width and kind: the largest errors, and half a unit in the last place
    of the largest |y|, below which errors are alike."""
    rows = []
    for dtype in ("fp32", "bf16", "fp16"):
        for columns in WIDTHS:
            case = Case(dtype, ROWS, columns)
            loaded, why = load(session, tuner, case)
            for kind, (mean, spread) in kinds_of(dtype).items():
                rows.append(row_of(session, case, kind, (mean, spread), loaded, why))
            session.tidy()
    return rows


def load(session, tuner, case):
    try:
        return session.guarded(case, ours.NAME,
                               lambda: session.load(find_winner(tuner, case)))
    except (TuningFailed, OSError, ValueError) as error:
        return None, f"no winner: {error}"


def row_of(session, case, kind, distribution, loaded, why):
    generator = torch.Generator(device=DEVICE).manual_seed(2)
    wide = torch.empty((case.rows, case.columns), dtype=torch.float64, device=DEVICE)
    wide.normal_(0.0, 1.0, generator=generator).mul_(distribution[1]).add_(distribution[0])
    inputs = Inputs(case, 1, x=wide.to(TORCH_DTYPE[case.dtype]), neutral=True)
    largest = judge.reference(inputs.xs[0], inputs.epsilon)[0].abs().max()
    row = {"dtype": case.dtype, "rows": case.rows, "columns": case.columns, "kind": kind,
           "half_unit": 0.5 * judge.unit_in_last_place(case.dtype, largest).item(),
           "normd": None, "peers": {}}
    if loaded is not None:
        entrant, why = session.guarded(case, ours.NAME,
                                       lambda: session.enter_ours(inputs, loaded))
        row["normd"] = entrant.outcome.error if entrant else None
        why = entrant.outcome.note if entrant else why
    if why:
        row["note"] = why
    for peer in session.peers:
        entrant = session.enter_peer(inputs, peer)
        if entrant is not None and entrant.contender is not None:
            row["peers"][peer.name] = entrant.outcome.error
    return row
