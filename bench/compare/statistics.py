"""Medians, intervals and ratios of samples. Pure; numpy only."""

import math

import numpy

RESAMPLES = 400


def median_interval(samples, seed=1):
    """(median, low, high): the median and its 95 % bootstrap interval."""
    values = numpy.asarray(samples, dtype=float)
    if values.size == 0:
        raise ValueError("no samples")
    picks = numpy.random.default_rng(seed).integers(0, values.size, (RESAMPLES, values.size))
    medians = numpy.median(values[picks], axis=1)
    low, high = numpy.percentile(medians, (2.5, 97.5))
    return float(numpy.median(values)), float(low), float(high)


def overlap(first, second):
    """Whether two intervals [low, high] share a point."""
    return first[0] <= second[1] and second[0] <= first[1]


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def takes_part(round_number, rounds, count):
    """Whether one who is sampled `count` times in `rounds` rounds is sampled in this round: the
    times are spread evenly, so that slow contenders see the same clocks as the fast ones."""
    return (round_number + 1) * count // rounds != round_number * count // rounds


def quiet_rounds(control_by_round, allowance=0.10):
    """The rounds in which the control copy kept within `allowance` of its own median: in the
    others something else ran on the device."""
    middle = float(numpy.median(list(control_by_round.values())))
    return {number for number, ns in control_by_round.items() if ns <= middle * (1 + allowance)}


def launches_per_sample(launch_ns, sample_ns_min=200e3, launches_max=128):
    """Launches that make a sample long against the event clock and the graph's own beginning."""
    return max(1, min(launches_max, math.ceil(sample_ns_min / max(launch_ns, 100.0))))
