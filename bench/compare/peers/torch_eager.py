"""PyTorch eager."""

import torch


def layer_norm(x, gamma, beta, epsilon):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, epsilon)


def layer_norm_with_stats(x, gamma, beta, epsilon):
    return torch.native_layer_norm(x, (x.shape[1],), gamma, beta, epsilon)


def mixed_layer_norm(x, gamma, beta, epsilon):
    """PyTorch wants parameters of x's dtype; with fp32 ones, models convert x and y."""
    return layer_norm(x.to(gamma.dtype), gamma, beta, epsilon).to(x.dtype)


def function_for(inputs):
    """The function that a user would write for this case; gives y, or (y, mean, rstd)."""
    if inputs.wants_stats:
        return layer_norm_with_stats
    if inputs.gamma is not None and inputs.gamma.dtype != inputs.x_dtype:
        return mixed_layer_norm
    return layer_norm


def make(_, inputs, function=None):
    function = function or function_for(inputs)

    def call(index):
        answer = function(inputs.xs[index], inputs.gamma, inputs.beta, inputs.epsilon)
        return answer if inputs.wants_stats else (answer, None, None)

    return call
