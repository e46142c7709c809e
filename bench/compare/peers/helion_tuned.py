"""Helion after its quick search, which runs on the device before anything is timed."""

from bench.compare.peers import helion_kernel


def make(case, inputs):
    return helion_kernel.make(case, inputs, effort="quick")
