"""The tensors of a case: buffer sets of x and y, parameters, statistics. Every contender reads the
same x; parameters in another dtype hold the same values. One thread."""

import torch

DEVICE = "cuda"
EPSILON = 1e-5
TORCH_DTYPE = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def set_count(case, launches, l2_bytes):
    """Buffer sets that hold at least twice L2, but no more than one sample launches."""
    wanted = -(-2 * l2_bytes // (2 * case.tensor_bytes))
    return max(1, min(launches, wanted))


def shifted(tensor, elements):
    """The tensor, or its values where they begin `elements` after an aligned address."""
    if elements == 0:
        return tensor
    room = torch.empty(tensor.numel() + elements, dtype=tensor.dtype, device=tensor.device)
    return room[elements:].view(tensor.shape).copy_(tensor)


class Inputs:
    def __init__(self, case, sets, x=None, device=DEVICE, neutral=False):
        self.case = case
        self.sets = sets
        self.epsilon = EPSILON
        generator = torch.Generator(device=device).manual_seed(1)
        shape = (case.rows, case.columns)
        dtype = TORCH_DTYPE[case.dtype]
        if x is None:
            x = torch.empty(shape, dtype=dtype, device=device).normal_(0.5, 1.0,
                                                                       generator=generator)
        self.xs = [shifted(x, case.shift)]
        self.xs += [shifted(x.clone(), case.shift) for _ in range(sets - 1)]
        self.ys = [shifted(torch.empty(shape, dtype=dtype, device=device), case.shift)
                   for _ in range(sets)]
        gamma = torch.ones(case.columns, device=device)
        beta = torch.zeros(case.columns, device=device)
        if not neutral:
            gamma.normal_(1.0, 0.2, generator=generator)
            beta.normal_(0.0, 0.2, generator=generator)
        parameter_dtype = TORCH_DTYPE[case.parameter_dtype]
        self.gamma = gamma.to(parameter_dtype) if case.has_gamma else None
        self.beta = beta.to(parameter_dtype) if case.has_beta else None
        self.means = self.rstds = [None] * sets
        if case.stats == "mean_rstd":
            self.means = [torch.empty(case.rows, device=device) for _ in range(sets)]
            self.rstds = [torch.empty(case.rows, device=device) for _ in range(sets)]

    @property
    def x_dtype(self):
        return self.xs[0].dtype

    @property
    def wants_stats(self):
        return self.case.stats == "mean_rstd"

    def gamma_as(self, dtype):
        """gamma for a library that wants this dtype, and ones where the case has none."""
        if self.gamma is None:
            return torch.ones(self.case.columns, dtype=dtype, device=self.xs[0].device)
        return self.gamma.to(dtype)

    def beta_as(self, dtype):
        if self.beta is None:
            return torch.zeros(self.case.columns, dtype=dtype, device=self.xs[0].device)
        return self.beta.to(dtype)


class Sweep:
    """Reads twice L2 of other memory, so that what was in L2 before is gone and nothing waits to
    be written back."""

    def __init__(self, l2_bytes, device=DEVICE):
        rows = max(1, 2 * l2_bytes // 4096)
        self.memory = torch.zeros((rows, 1024), dtype=torch.float32, device=device)
        self.sums = torch.empty(rows, dtype=torch.float32, device=device)

    def __call__(self):
        torch.sum(self.memory, dim=1, out=self.sums)
