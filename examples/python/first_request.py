"""Asks a running normd for the LayerNorm of real activations, and compares with numpy.

PYTHONPATH must hold the package that the build puts under python/; NORMD_SOCKET may name the
daemon's socket.
"""

import pathlib

import numpy

import normd

data = pathlib.Path(__file__).parent.parent / "data"
x = numpy.load(data / "x.npy")  # one row for each token
gamma, beta = numpy.load(data / "gamma.npy"), numpy.load(data / "beta.npy")

client = normd.Client()
y, mean, rstd = client.layer_norm(x, gamma, beta, epsilon=1e-12, return_stats=True)

exact = x.astype("float64")
exact = (exact - exact.mean(1, keepdims=True)) / numpy.sqrt(exact.var(1, keepdims=True) + 1e-12)
exact = exact * gamma + beta
print(f"{x.shape[0]} rows of {x.shape[1]}, largest error {numpy.abs(y - exact).max():.2g}")
print(f"answered from {client.last.origin} by {client.last.candidate}")
