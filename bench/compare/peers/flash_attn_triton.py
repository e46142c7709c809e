"""flash-attn's Triton LayerNorm."""

from flash_attn.ops.triton.layer_norm import layer_norm_fn

from bench.compare.contender import Unsupported


def make(_, inputs):
    if inputs.wants_stats:
        raise Unsupported("its function gives no mean and rstd")
    dtype = inputs.x_dtype if inputs.gamma is None else inputs.gamma.dtype
    gamma = inputs.gamma_as(dtype)

    def call(index):
        return layer_norm_fn(inputs.xs[index], gamma, inputs.beta, eps=inputs.epsilon), None, None

    return call
