"""FlashInfer's layernorm: bf16 x, fp32 gamma and beta of the same values."""

import flashinfer.norm
import torch

from bench.compare.contender import Unsupported


def make(case, inputs):
    if case.shift:
        raise Unsupported("wants tensors at aligned addresses")
    if case.dtype != "bf16":
        raise Unsupported("takes bf16 only")
    if inputs.wants_stats:
        raise Unsupported("gives no mean and rstd")
    gamma, beta = inputs.gamma_as(torch.float32), inputs.beta_as(torch.float32)

    def call(index):
        y = flashinfer.norm.layernorm(inputs.xs[index], gamma, beta, inputs.epsilon)
        return y, None, None

    return call
