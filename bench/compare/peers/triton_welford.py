"""Triton, Welford over tiles: x is read twice."""

from bench.compare.peers import triton_kernels, triton_tiles

TILE_BYTES_MAX = 16384


def make(case, inputs):
    return triton_tiles.make(case, inputs, triton_kernels.welford_kernel, TILE_BYTES_MAX)
