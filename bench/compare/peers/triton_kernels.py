"""LayerNorm in Triton by three plans that people write, and a plain copy."""

import triton
import triton.language as tl


@triton.jit
def store_row(x, y, gamma, beta, columns, mean, rstd, TILE: tl.constexpr):
    """One row, tile by tile: read again, normalise, scale, write."""
    for begin in range(0, columns, TILE):
        at = begin + tl.arange(0, TILE)
        inside = at < columns
        value = (tl.load(x + at, mask=inside, other=0.0).to(tl.float32) - mean) * rstd
        if gamma is not None:
            value = value * tl.load(gamma + at, mask=inside, other=0.0).to(tl.float32)
        if beta is not None:
            value = value + tl.load(beta + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + at, value.to(y.dtype.element_ty), mask=inside)


@triton.jit
def store_stats(mean_out, rstd_out, row, mean, rstd):
    if mean_out is not None:
        tl.store(mean_out + row, mean)
        tl.store(rstd_out + row, rstd)


@triton.jit
def tiles_kernel(x, y, gamma, beta, mean_out, rstd_out, columns, epsilon, TILE: tl.constexpr):
    """One block owns a row and walks it three times in tiles: sum, squares, result."""
    row = tl.program_id(0).to(tl.int64)
    x += row * columns
    y += row * columns
    total = tl.zeros([TILE], dtype=tl.float32)
    for begin in range(0, columns, TILE):
        at = begin + tl.arange(0, TILE)
        total += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([TILE], dtype=tl.float32)
    for begin in range(0, columns, TILE):
        at = begin + tl.arange(0, TILE)
        inside = at < columns
        value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        deviation = tl.where(inside, value - mean, 0.0)
        squares += deviation * deviation
    rstd = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    store_stats(mean_out, rstd_out, row, mean, rstd)
    store_row(x, y, gamma, beta, columns, mean, rstd, TILE)


@triton.jit
def merge_moments(mean_a, squares_a, count_a, mean_b, squares_b, count_b):
    count = count_a + count_b
    share = tl.where(count > 0.0, count_b / count, 0.0)
    step = mean_b - mean_a
    return (mean_a + step * share, squares_a + squares_b + step * step * count_a * share, count)


@triton.jit
def welford_kernel(x, y, gamma, beta, mean_out, rstd_out, columns, epsilon, TILE: tl.constexpr):
    """One block owns a row; every lane of a tile keeps running moments over the tiles, which are
    merged once; then the row is read again for the result."""
    row = tl.program_id(0).to(tl.int64)
    x += row * columns
    y += row * columns
    means = tl.zeros([TILE], dtype=tl.float32)
    squares = tl.zeros([TILE], dtype=tl.float32)
    counts = tl.zeros([TILE], dtype=tl.float32)
    for begin in range(0, columns, TILE):
        at = begin + tl.arange(0, TILE)
        inside = at < columns
        value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        counts = tl.where(inside, counts + 1.0, counts)
        step = value - means
        moved = means + step / tl.maximum(counts, 1.0)
        squares = tl.where(inside, squares + step * (value - moved), squares)
        means = tl.where(inside, moved, means)
    mean, square, _ = tl.reduce((means, squares, counts), 0, merge_moments)
    rstd = 1.0 / tl.sqrt(square / columns + epsilon)
    store_stats(mean_out, rstd_out, row, mean, rstd)
    store_row(x, y, gamma, beta, columns, mean, rstd, TILE)


@triton.jit
def row_kernel(x, y, gamma, beta, mean_out, rstd_out, rows, columns, epsilon,
               ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """One block owns ROWS whole rows in registers: x is read once."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)
    at = row[:, None] * columns + column[None, :]
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=1) / columns
    deviation = tl.where(inside, value - mean[:, None], 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(deviation * deviation, axis=1) / columns + epsilon)
    if mean_out is not None:
        tl.store(mean_out + row, mean, mask=row < rows)
        tl.store(rstd_out + row, rstd, mask=row < rows)
    result = deviation * rstd[:, None]
    if gamma is not None:
        factor = tl.load(gamma + column, mask=column < columns, other=0.0).to(tl.float32)
        result = result * factor[None, :]
    if beta is not None:
        term = tl.load(beta + column, mask=column < columns, other=0.0).to(tl.float32)
        result = result + term[None, :]
    tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def copy_kernel(x, y, count, TILE: tl.constexpr, POLICY: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    inside = at < count
    value = tl.load(x + at, mask=inside, eviction_policy=POLICY)
    tl.store(y + at, value, mask=inside, eviction_policy=POLICY)
