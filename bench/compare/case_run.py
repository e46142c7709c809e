"""Measures one case: the copies, our winner and every peer, cold and, where it fits in L2, warm."""

import torch

from bench.compare import ours, results, sampling, statistics
from bench.compare.contender import Outcome, interval_of, rounded
from bench.compare.copies import CONTROL, COPY_PREFIX, copy_contenders
from bench.compare.inputs import Inputs, set_count
from bench.compare.session import Entrant
from bench.compare.winner import NoWinner, read_winner

# A guess of a copy's time, good enough to say how many launches make a sample.
COPY_BYTES_PER_NS = 4000.0
LAUNCH_NS_MIN = 1000.0


class CaseRun:
    def __init__(self, session, store, contender_ms):
        self.session = session
        self.store = store
        self.contender_ns = contender_ms * 1e6

    def row(self, case, key, why):
        """The document's row of this case, whose winner has this key, or none because `why`."""
        session = self.session
        launches = launches_of(case)
        with session.turn_taken():
            inputs = Inputs(case, set_count(case, launches, session.l2_bytes))
        entrants = {one.name: Entrant(Outcome(), one)
                    for one in copy_contenders(inputs, session.driver)}
        winner, loaded, why = self._winner(case, key, why)
        entrants[ours.NAME] = self._ours(inputs, loaded, why)
        for peer in session.peers:
            entrant = session.enter_peer(inputs, peer)
            if entrant is not None:
                entrants[peer.name] = entrant
        fits = 2 * case.tensor_bytes <= session.l2_bytes
        # Where the sets do not fill twice L2, what a sample left there is swept out.
        swept = inputs.sets * 2 * case.tensor_bytes < 2 * session.l2_bytes
        self._measure(case, entrants, "cold", session.protocol(
            launches=launches, sets=inputs.sets, sweep=session.sweep if swept else None,
            contender_ns=self.contender_ns))
        if fits:
            self._measure(case, entrants, "warm", session.protocol(
                launches=launches, sets=1, contender_ns=self.contender_ns))
        if loaded is not None:
            loaded.unload()
        row = row_of(case, entrants, winner, fits)
        del entrants, inputs
        session.tidy()
        return row

    def _winner(self, case, key, why):
        if not key:
            return None, None, f"no winner: {why}"
        try:
            winner = read_winner(self.store, key)
        except (NoWinner, OSError, ValueError) as error:
            return None, None, f"no winner: {error}"
        loaded, why = self.session.guarded(case, ours.NAME, lambda: self.session.load(winner))
        return winner, loaded, why

    def _ours(self, inputs, loaded, why):
        if loaded is None:
            return Entrant(Outcome(note=why))
        entrant, why = self.session.guarded(
            inputs.case, ours.NAME, lambda: self.session.enter_ours(inputs, loaded))
        return entrant or Entrant(Outcome(note=why))

    def _measure(self, case, entrants, cache, protocol):
        session = self.session
        recorded = []
        for name, entrant in entrants.items():
            if entrant.contender is None:
                continue
            one, why = session.guarded(case, name, lambda entrant=entrant: sampling.Recorded(
                session.driver, session.stream, entrant.contender, protocol))
            if one is None:
                entrant.outcome.note = why
                entrant.contender = None
            else:
                recorded.append(one)
        for name, times in sampling.measure(recorded, protocol, CONTROL).items():
            entrants[name].outcome.times[cache] = times
        for one in recorded:
            one.close()
        torch.cuda.synchronize()


def launches_of(case):
    guess_ns = max(LAUNCH_NS_MIN, 2 * case.tensor_bytes / COPY_BYTES_PER_NS)
    return statistics.launches_per_sample(guess_ns)


def figures(entrants, cache):
    """The part of a row that there is once for each cache state."""
    copies = [(entrant.outcome.times[cache], name) for name, entrant in entrants.items()
              if name.startswith(COPY_PREFIX) and cache in entrant.outcome.times]
    best = min(copies, default=((None, None, None), ""))
    own = entrants[ours.NAME].outcome.times.get(cache, (None, None, None))
    entry = {"copy_ns": rounded(best[0][0]), "copy": best[1].removeprefix(COPY_PREFIX),
             "ours_ns": rounded(own[0]), "interval": interval_of(*own[1:]),
             "peers": {name: entrant.outcome.peer_entry(cache)
                       for name, entrant in entrants.items()
                       if not name.startswith(COPY_PREFIX) and name != ours.NAME}}
    entry["overlaps"] = results.overlaps_best(entry)
    return entry


def row_of(case, entrants, winner, fits):
    own = entrants[ours.NAME].outcome
    row = {"dtype": case.dtype, "rows": case.rows, "columns": case.columns,
           "affine": case.affine, "stats": case.stats, "shift": case.shift, "fits_l2": fits}
    row.update(figures(entrants, "cold"))
    row["candidate"] = winner.candidate if winner else None
    row["max_error"] = own.error
    row["wrong"] = own.wrong
    if own.note:
        row["note"] = own.note
    row["warm"] = figures(entrants, "warm") if fits else None
    return row
