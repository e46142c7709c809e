"""Liger: its Triton forward. Always with gamma and beta; ones and zeros where the case has none."""

from liger_kernel.ops.layer_norm import layer_norm_forward


def make(_, inputs):
    dtype = inputs.x_dtype if inputs.gamma is None else inputs.gamma.dtype
    gamma, beta = inputs.gamma_as(dtype), inputs.beta_as(dtype)

    def call(index):
        answer = layer_norm_forward(inputs.xs[index], gamma, beta, inputs.epsilon)
        return (answer[0], answer[2], answer[3]) if inputs.wants_stats else (answer[0], None, None)

    return call
