"""Triton, in the plan of its tutorial: a block walks its row in tiles, three times."""

import triton

from bench.compare.peers import triton_kernels

TILE_BYTES_MAX = 65536


def make(case, inputs, kernel=triton_kernels.tiles_kernel, tile_bytes_max=TILE_BYTES_MAX):
    element_bytes = inputs.xs[0].element_size()
    tile = max(128, min(tile_bytes_max // element_bytes, triton.next_power_of_2(case.columns)))
    warps = min(max(tile // 256, 1), 8)

    def call(index):
        y, mean, rstd = inputs.ys[index], inputs.means[index], inputs.rstds[index]
        kernel[(case.rows,)](inputs.xs[index], y, inputs.gamma, inputs.beta, mean, rstd,
                             case.columns, inputs.epsilon, TILE=tile, num_warps=warps)
        return y, mean, rstd

    return call
