"""Launches a stored winner on torch's tensors, in torch's context and stream. One thread."""

import ctypes

import torch

from bench.compare.contender import Contender
from bench.compare.driver import StoredKernel
from bench.compare.inputs import DEVICE
from bench.compare.launch import NormArguments, argument_flags, grid_blocks


NAME = "normd"


def arguments_of(inputs, index, workspace):
    def address(tensor):
        return None if tensor is None else tensor.data_ptr()

    case = inputs.case
    return NormArguments(
        x=address(inputs.xs[index]), gamma=address(inputs.gamma), beta=address(inputs.beta),
        y=address(inputs.ys[index]), mean=address(inputs.means[index]),
        rstd=address(inputs.rstds[index]), workspace=address(workspace), rows=case.rows,
        columns=case.columns, x_row_stride=case.columns, y_row_stride=case.columns,
        epsilon=inputs.epsilon, flags=argument_flags(case))


class LoadedWinner:
    def __init__(self, driver, winner):
        self.kernel = StoredKernel(driver, winner.binary, winner.launch,
                                   ctypes.sizeof(NormArguments))
        self.launch = winner.launch

    def contender(self, inputs):
        rows = inputs.case.rows
        count = self.launch.workspace_bytes + self.launch.workspace_bytes_per_row * rows
        # Zeroed once: then each launch finds what the one before left.
        workspace = torch.zeros(count, dtype=torch.uint8, device=DEVICE) if count else None
        device = torch.cuda.get_device_properties(0)
        held = self.kernel.blocks_held(device.multi_processor_count)
        blocks = grid_blocks(self.launch, rows, held)
        arguments = [arguments_of(inputs, index, workspace) for index in range(inputs.sets)]
        torch.cuda.synchronize()  # launches may be on another stream than the zeroes

        def call(index, _workspace=workspace):  # which lives as long as launches may come
            self.kernel.enqueue(arguments[index], blocks, torch.cuda.current_stream().cuda_stream)
            return inputs.ys[index], inputs.means[index], inputs.rstds[index]

        return Contender(NAME, call)

    def unload(self):
        self.kernel.unload()
