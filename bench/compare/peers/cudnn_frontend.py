"""cuDNN by its front end: one graph a case, the plan that its heuristics rank first."""

import cudnn
import torch

from bench.compare.contender import Unsupported

_handles = []  # one for all cases; made at the first, because it needs the context


def handle():
    if not _handles:
        _handles.append(cudnn.create_handle())
    return _handles[0]


def build(case, inputs, gamma, beta, epsilon):
    """The graph and its tensors by role."""
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.FLOAT,
                          intermediate_data_type=cudnn.data_type.FLOAT,
                          compute_data_type=cudnn.data_type.FLOAT, handle=handle())
    wide = [case.columns, 1, case.columns, case.columns]

    def tensor(name, rows, dtype):
        return graph.tensor(name=name, dim=[rows, case.columns, 1, 1], stride=wide,
                            data_type=dtype)

    roles = {"x": tensor("x", case.rows, inputs.x_dtype), "gamma": tensor("gamma", 1, gamma.dtype),
             "beta": tensor("beta", 1, beta.dtype)}
    roles["epsilon"] = graph.tensor(name="epsilon", dim=list(epsilon.shape),
                                    stride=list(epsilon.stride()), is_pass_by_value=True,
                                    data_type=epsilon.dtype)
    phase = (cudnn.norm_forward_phase.TRAINING if inputs.wants_stats
             else cudnn.norm_forward_phase.INFERENCE)
    y, mean, rstd = graph.layernorm(name="layer_norm", norm_forward_phase=phase,
                                    input=roles["x"], scale=roles["gamma"], bias=roles["beta"],
                                    epsilon=roles["epsilon"])
    y.set_output(True).set_data_type(inputs.x_dtype).set_dim(
        [case.rows, case.columns, 1, 1]).set_stride(wide)
    roles["y"] = y
    if inputs.wants_stats:
        mean.set_output(True).set_data_type(torch.float32)
        rstd.set_output(True).set_data_type(torch.float32)
        roles.update(mean=mean, rstd=rstd)
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans()
    return graph, roles


def make(case, inputs):
    if case.shift:
        raise Unsupported("wants tensors at aligned addresses")
    dtype = inputs.x_dtype if inputs.gamma is None else inputs.gamma.dtype
    gamma, beta = inputs.gamma_as(dtype), inputs.beta_as(dtype)
    epsilon = torch.full((1, 1, 1, 1), inputs.epsilon, dtype=torch.float32, device="cpu")
    graph, roles = build(case, inputs, gamma, beta, epsilon)
    workspace = torch.empty(max(1, graph.get_workspace_size()), device="cuda", dtype=torch.uint8)

    def call(index):
        y, mean, rstd = inputs.ys[index], inputs.means[index], inputs.rstds[index]
        cudnn.set_stream(handle=handle(), stream=torch.cuda.current_stream().cuda_stream)
        tensors = {roles["x"]: inputs.xs[index], roles["gamma"]: gamma, roles["beta"]: beta,
                   roles["epsilon"]: epsilon, roles["y"]: y}
        if inputs.wants_stats:
            tensors.update({roles["mean"]: mean, roles["rstd"]: rstd})
        graph.execute(tensors, workspace, handle=handle())
        return y, mean, rstd

    return call
