"""The limit: several ways to copy the bytes of x to y. One thread."""

import torch
import triton

from bench.compare.contender import Contender
from bench.compare.peers import triton_kernels

COPY_PREFIX = "copy_"
CONTROL = COPY_PREFIX + "driver"
TILE_BYTES = 32768


def widest_view(tensor):
    """The same bytes as elements as wide as count and address allow, up to 8 bytes."""
    count = tensor.numel() * tensor.element_size()
    flat = tensor.view(-1)
    for size, dtype in ((8, torch.int64), (4, torch.int32)):
        if count % size == 0 and tensor.data_ptr() % size == 0:
            return flat.view(dtype)
    return flat.view(torch.int16)


def copy_contenders(inputs, driver):
    count = inputs.case.tensor_bytes
    views = [(widest_view(x), widest_view(y)) for x, y in zip(inputs.xs, inputs.ys)]
    element_bytes = views[0][0].element_size()
    elements = count // element_bytes
    tile = TILE_BYTES // element_bytes

    def by_driver(index):
        driver.copy(inputs.ys[index].data_ptr(), inputs.xs[index].data_ptr(), count,
                    torch.cuda.current_stream().cuda_stream)

    def by_torch(index):
        inputs.ys[index].copy_(inputs.xs[index])

    def by_vectors(index, tile=tile, warps=8, policy="evict_first"):
        x, y = views[index]
        blocks = triton.cdiv(elements, tile)
        triton_kernels.copy_kernel[(blocks,)](x, y, elements, TILE=tile, POLICY=policy,
                                              num_warps=warps)

    def by_small_blocks(index):
        by_vectors(index, tile // 8, 4, "")

    return [Contender(COPY_PREFIX + name, call) for name, call in (
        ("driver", by_driver), ("torch", by_torch), ("vectors", by_vectors),
        ("small_blocks", by_small_blocks))]
