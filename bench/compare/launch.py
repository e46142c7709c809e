"""Launch: how a stored kernel is launched, read from its canonical text in the store, and the
argument that every kernel takes. Mirrors kernels/launch.h and kernels/arguments.h. Pure; no GPU."""

import ctypes
import dataclasses


@dataclasses.dataclass(frozen=True)
class Launch:
    entries: tuple
    block: int
    cluster: int
    shared_bytes: int
    cooperative: int
    programmatic: int
    rows_per_block: int
    blocks_per_row: int
    resident: int
    strides: int
    blocks_max: int
    workspace_bytes: int
    workspace_bytes_per_row: int


def parse_launch(text):
    """Of `entries=normd_kernel block=256 ...`. A field that is unknown or missing is an error: a
    kernel that is launched otherwise than it was tuned would be timed wrongly."""
    fields = dict(word.partition("=")[::2] for word in text.split(" "))
    names = [field.name for field in dataclasses.fields(Launch)]
    if set(fields) != set(names):
        differing = ", ".join(sorted(set(fields) ^ set(names)))
        raise ValueError(f"a launch with other fields ({differing}) in '{text}'")
    numbers = {name: int(fields[name]) for name in names[1:]}
    return Launch(entries=tuple(fields["entries"].split(",")), **numbers)


def grid_blocks(launch, rows, blocks_held):
    """Blocks of the one-dimensional grid for `rows` rows, on a device that holds `blocks_held` of
    them at once."""
    groups = -(-rows // launch.rows_per_block)
    blocks_max = min(launch.blocks_max, blocks_held) if launch.resident else launch.blocks_max
    groups_max = max(1, blocks_max // launch.blocks_per_row)
    if not launch.strides and groups > groups_max:
        raise ValueError(f"{rows} rows are more than {groups_max} groups of blocks have at once")
    return min(groups, groups_max) * launch.blocks_per_row


class NormArguments(ctypes.Structure):
    """Version 2 of the argument; its layout is a promise of kernels/arguments.h."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("x", "gamma", "beta", "y")] + [
        ("rows", ctypes.c_longlong), ("epsilon", ctypes.c_float), ("flags", ctypes.c_uint)] + [
        (name, ctypes.c_void_p) for name in ("mean", "rstd", "workspace")] + [
        (name, ctypes.c_longlong) for name in ("columns", "x_row_stride", "y_row_stride")]


DTYPE_NUMBER = {None: 0, "fp32": 1, "fp16": 2, "bf16": 3}


def argument_flags(case):
    gamma = case.parameter_dtype if case.has_gamma else None
    beta = case.parameter_dtype if case.has_beta else None
    x = DTYPE_NUMBER[case.dtype]
    return x | (x << 4) | (DTYPE_NUMBER[gamma] << 8) | (DTYPE_NUMBER[beta] << 12)
