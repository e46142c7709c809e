"""What takes part in a comparison, and what became of it. Pure; no torch."""

import dataclasses
import typing


class Unsupported(Exception):
    """A library that does not do this case, with its reason."""


@dataclasses.dataclass
class Contender:
    """`call(index)` runs once on buffer set `index` of the current stream and returns what it
    wrote: (y, mean, rstd), the last two None where not asked for."""

    name: str
    call: typing.Callable[[int], tuple]


@dataclasses.dataclass
class Outcome:
    """Of one contender in one case: times by cache state, or a note that says why there is none."""

    error: float | None = None  # the largest of y against float64
    wrong: bool = False
    note: str = ""
    times: dict = dataclasses.field(default_factory=dict)  # "cold", "warm": (median, low, high)

    def peer_entry(self, cache):
        median, low, high = self.times.get(cache, (None, None, None))
        entry = {"ns": rounded(median), "interval": interval_of(low, high),
                 "error": self.error, "wrong": self.wrong}
        if self.note:
            entry["note"] = self.note
        return entry


def rounded(ns):
    return None if ns is None else round(ns, 1)


def interval_of(low, high):
    return None if low is None else [round(low, 1), round(high, 1)]
