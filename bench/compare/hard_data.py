"""The cases and kinds of data on which errors are compared. Pure; no torch."""

from bench.compare.grid import Case

ROWS = 64
WIDTHS = (4096, 65536, 262144)
DTYPES = ("fp32", "bf16", "fp16")

# Mean and standard deviation. The squares' sum passes what fp32 holds near 1e18, the sum at 8.5e37.
KINDS = {"normal": (0.0, 1.0), "mean 10": (10.0, 1.0), "mean 1e3": (1e3, 1.0),
         "mean 1000, sd 0.1": (1e3, 0.1), "mean 1e4": (1e4, 1.0), "mean 1e5": (1e5, 1.0),
         "mean 100, sd 0.01": (100.0, 0.01), "scale 1e18": (0.0, 1e18),
         "scale 1e30": (0.0, 1e30), "scale 8.5e37": (0.0, 8.5e37)}
FP16_MAX = 65504.0

# The templates that may win, each of which is also looked at by itself.
EXACT_TEMPLATES = ("thread_rows", "sub_warp", "block_registers", "cluster_registers",
                   "cluster_pipeline", "grid_pipeline", "phase_aligned", "block_tiled",
                   "any_columns")


def representable(dtype, mean, spread):
    """Whether the dtype reaches that far; how coarsely it stores the values is part of the kind."""
    return dtype != "fp16" or abs(mean) + 6 * spread < FP16_MAX


def kinds_of(dtype):
    return {kind: values for kind, values in KINDS.items() if representable(dtype, *values)}


def cases():
    return [Case(dtype, ROWS, columns) for columns in WIDTHS for dtype in DTYPES]
