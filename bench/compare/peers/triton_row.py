"""Triton, whole rows in registers: x is read once."""

import triton

from bench.compare.contender import Unsupported
from bench.compare.peers import triton_kernels

WIDTH_MAX = 65536
BLOCK_ELEMENTS = 2048  # narrow rows share a block


def make(case, inputs):
    width = triton.next_power_of_2(case.columns)
    if width > WIDTH_MAX:
        raise Unsupported(f"rows of {case.columns} do not fit a block's registers")
    rows_held = max(1, min(BLOCK_ELEMENTS // width, triton.next_power_of_2(case.rows)))
    warps = min(max(width * rows_held // 512, 1), 32)
    blocks = triton.cdiv(case.rows, rows_held)

    def call(index):
        y, mean, rstd = inputs.ys[index], inputs.means[index], inputs.rstds[index]
        triton_kernels.row_kernel[(blocks,)](
            inputs.xs[index], y, inputs.gamma, inputs.beta, mean, rstd, case.rows, case.columns,
            inputs.epsilon, ROWS=rows_held, WIDTH=width, num_warps=warps)
        return y, mean, rstd

    return call
