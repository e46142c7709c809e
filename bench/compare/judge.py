"""Compares an answer with float64 on the device, in blocks of rows. One thread."""

import dataclasses

import torch

from bench.compare.inputs import TORCH_DTYPE

BLOCK_ELEMENTS = 1 << 25

# A peer is wrong when an element is off by more than this times |gamma| (1 + |normalised|) +
# |beta|: about eight units in the last place, far above what rounding and summing cost, far below
# what a mistake costs.
PEER_BOUND = {"fp32": 1e-4, "fp16": 2.0 ** -8, "bf16": 2.0 ** -5}
PEER_STATS_BOUND = 1e-3
# What every served answer keeps, as in kernels/tolerance.h, beside half a unit in the last place.
OUR_BOUND = 2e-6
OUR_STATS_BOUND = 1e-6

SIGNIFICANT_BITS = {"fp32": 24, "fp16": 11, "bf16": 8}
SMALLEST_EXPONENT = {"fp32": -126, "fp16": -14, "bf16": -126}


@dataclasses.dataclass
class Judgement:
    error: float = 0.0         # the largest absolute error of y
    over_bound: float = 0.0    # the largest error as a share of its bound
    words: str = ""            # what is wrong; empty: nothing

    @property
    def wrong(self):
        return bool(self.words) or not self.over_bound <= 1.0


def unit_in_last_place(dtype, values):
    """Of a dtype at each of the float64 `values`."""
    exponent = torch.frexp(values)[1].to(torch.float64) - 1
    exponent = torch.clamp(exponent, min=SMALLEST_EXPONENT[dtype])
    return torch.exp2(exponent - (SIGNIFICANT_BITS[dtype] - 1))


def reference(x, epsilon):
    """float64 (normalised, mean, rstd) of rows of x."""
    wide = x.to(torch.float64)
    mean = wide.mean(dim=1, keepdim=True)
    wide -= mean
    rstd = torch.rsqrt((wide * wide).mean(dim=1, keepdim=True) + epsilon)
    return wide * rstd, mean[:, 0], rstd[:, 0]


def judge(inputs, outputs, strict, x=None):
    """The answer `outputs` to inputs.xs[0]; `strict` asks for the served kernels' bounds."""
    case = inputs.case
    y, mean, rstd = outputs
    x = inputs.xs[0] if x is None else x
    complaint = shape_complaint(inputs, y, mean, rstd)
    if complaint:
        return Judgement(error=float("inf"), words=complaint)
    y = y.reshape(case.rows, case.columns)
    gamma = inputs.gamma_as(torch.float64)
    beta = inputs.beta_as(torch.float64)
    result = Judgement()
    step = max(1, BLOCK_ELEMENTS // case.columns)
    for begin in range(0, case.rows, step):
        rows = slice(begin, min(case.rows, begin + step))
        normalised, true_mean, true_rstd = reference(x[rows], inputs.epsilon)
        bound = gamma.abs() * (1 + normalised.abs()) + beta.abs()
        bound *= OUR_BOUND if strict else PEER_BOUND[case.dtype]
        expected = normalised.mul_(gamma).add_(beta)
        if strict and case.dtype != "fp32":
            bound += 0.5 * unit_in_last_place(case.dtype, expected)
        error = (y[rows].to(torch.float64) - expected).abs_()
        result.error = worst(result.error, error.max().item())
        result.over_bound = worst(result.over_bound, (error / bound).max().item())
        if inputs.wants_stats:
            share = stats_share(x[rows], mean.reshape(-1)[rows], rstd.reshape(-1)[rows],
                                (true_mean, true_rstd), strict)
            result.over_bound = worst(result.over_bound, share)
    if not result.over_bound <= 1.0:
        result.words = f"{result.over_bound:.3g} times the error that is allowed"
    return result


def shape_complaint(inputs, y, mean, rstd):
    case = inputs.case
    if y is None or y.numel() != case.rows * case.columns:
        return "y has another size"
    if y.dtype != TORCH_DTYPE[case.dtype]:
        return f"y is {y.dtype}"
    if inputs.wants_stats and (mean is None or rstd is None or mean.numel() != case.rows or
                               rstd.numel() != case.rows):
        return "mean or rstd is missing"
    return ""


def stats_share(x, mean, rstd, expected, strict):
    """The larger error of mean and rstd as a share of what is allowed."""
    allowed = OUR_STATS_BOUND if strict else PEER_STATS_BOUND
    true_mean, true_rstd = expected
    scale = x.abs().amax(dim=1).to(torch.float64).clamp(min=1e-30)
    mean_share = ((mean.to(torch.float64) - true_mean).abs() / (allowed * scale)).max()
    rstd_share = ((rstd.to(torch.float64) / true_rstd - 1).abs() / allowed).max()
    return worst(mean_share.item(), rstd_share.item())


def worst(first, second):
    """The larger; NaN, which no bound holds, counts as infinite."""
    return max(first, float("inf") if second != second else second)
