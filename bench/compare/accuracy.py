"""The largest error of every contender on kinds of data from easy to hard; nothing is timed."""

import torch

from bench.compare import inputs, judge, ours
from bench.compare.hard_data import kinds_of
from bench.compare.winner import NoWinner, read_winner

NOT_FINITE = "not finite"


def rows_of(session, case, winners):
    """One row for each kind of data: the largest errors, and half a unit in the last place of the
    largest |y|, below which errors are alike. `winners`: by name (store, key), or why none."""
    loaded = {name: load(session, case, name, *found) for name, found in winners.items()}
    rows = [row_of(session, case, kind, values, loaded)
            for kind, values in kinds_of(case.dtype).items()]
    for winner, _ in loaded.values():
        if winner is not None:
            winner.unload()
    session.tidy()
    return rows


def load(session, case, name, store, key, why):
    if not key:
        return None, f"no winner: {why}"
    try:
        winner = read_winner(store, key)
    except (NoWinner, OSError, ValueError) as error:
        return None, f"no winner: {error}"
    return session.guarded(case, name, lambda: session.load(winner))


def made_up(case, mean, spread):
    """Normal values as the dtype stores them; what it cannot reach becomes its largest."""
    dtype = inputs.TORCH_DTYPE[case.dtype]
    generator = torch.Generator(device=inputs.DEVICE).manual_seed(2)
    wide = torch.empty((case.rows, case.columns), dtype=torch.float64, device=inputs.DEVICE)
    wide.normal_(0.0, 1.0, generator=generator).mul_(spread).add_(mean)
    most = torch.finfo(dtype).max
    return wide.clamp_(-most, most).to(dtype)


def row_of(session, case, kind, distribution, loaded):
    with session.turn_taken():
        made = inputs.Inputs(case, 1, x=made_up(case, *distribution), neutral=True)
        largest = judge.reference(made.xs[0], made.epsilon)[0].abs().max()
    row = {"dtype": case.dtype, "rows": case.rows, "columns": case.columns, "kind": kind,
           "half_unit": 0.5 * judge.unit_in_last_place(case.dtype, largest).item(),
           "normd": None, "templates": {}, "peers": {}}
    for name, (winner, why) in loaded.items():
        entrant = None
        if winner is not None:
            entrant, why = session.guarded(
                case, name, lambda winner=winner: session.enter_ours(made, winner))
        error = error_of(entrant)
        if name == ours.NAME:
            row["normd"] = error
        elif error is not None:
            row["templates"][name] = error
        note = entrant.outcome.note if entrant else why
        if note and (name == ours.NAME or entrant):
            row["note"] = f"{name}: {note}"
    for peer in session.peers:
        error = error_of(session.enter_peer(made, peer))
        if error is not None:
            row["peers"][peer.name] = error
    return row


def error_of(entrant):
    if entrant is None or entrant.contender is None:
        return None
    return NOT_FINITE if entrant.outcome.error is None else entrant.outcome.error
