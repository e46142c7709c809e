"""Peers: the other libraries, one module each, with `make(case, inputs)` that returns the call of
contender.py. A module imports its library at the top: a failure there means `not installed`."""

import dataclasses
import importlib
import importlib.metadata


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    distribution: str       # whose version is recorded
    by_default: bool = True  # false: searches for seconds a shape
    words: str = ""
    prepared: bool = False   # what it compiles stays on disk for other processes

    def module(self):
        return importlib.import_module(f"{__name__}.{self.name}")

    def version(self):
        try:
            return importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return ""


PEERS = (
    Peer("torch_eager", "torch", words="torch.nn.functional.layer_norm"),
    Peer("torch_compile", "torch", words="the same, by torch.compile", prepared=True),
    Peer("triton_tiles", "triton", words="one block a row, three loops over tiles", prepared=True),
    Peer("triton_welford", "triton", words="one block a row, Welford over tiles, then a loop",
         prepared=True),
    Peer("triton_row", "triton", words="whole rows in registers, several a block", prepared=True),
    Peer("liger", "liger-kernel", prepared=True),
    Peer("quack", "quack-kernels", prepared=True),
    Peer("flashinfer_norm", "flashinfer-python"),
    Peer("transformer_engine_norm", "transformer-engine"),
    Peer("cudnn_frontend", "nvidia-cudnn-frontend"),
    Peer("helion_kernel", "helion", words="its default configuration", prepared=True),
    Peer("helion_tuned", "helion", False, "its quick search"),
    Peer("apex_fast", "apex", words="contrib.layer_norm"),
    Peer("flash_attn_triton", "flash-attn", words="ops.triton.layer_norm"),
)


def choose(text):
    """Of `default`, `all`, or names parted by commas; +name adds to the default."""
    if text == "all":
        return PEERS
    known = {peer.name: peer for peer in PEERS}
    words = [word for word in text.split(",") if word]
    unknown = [word for word in words if word.lstrip("+") not in known and word != "default"]
    if unknown:
        raise ValueError(f"no peer is called {', '.join(unknown)}; there are "
                         f"{', '.join(known)}")
    wanted = {word.lstrip("+") for word in words}
    with_default = "default" in wanted or any(word.startswith("+") for word in words)
    return tuple(peer for peer in PEERS
                 if peer.name in wanted or (with_default and peer.by_default))
