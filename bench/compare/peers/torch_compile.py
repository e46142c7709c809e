"""torch.compile of what torch_eager runs, compiled anew for each case."""

import torch

from bench.compare.peers import torch_eager


def make(case, inputs):
    # Recompilations of one function stop after a few shapes.
    torch._dynamo.reset()
    compiled = torch.compile(torch_eager.function_for(inputs), dynamic=False)
    return torch_eager.make(case, inputs, compiled)
