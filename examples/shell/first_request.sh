#!/bin/sh
# Asks a running normd for the LayerNorm of real activations: at once, then tuned, then remembered.
# normctl must be on PATH; NORMD_SOCKET may name the daemon's socket.
set -eu
data=$(cd "$(dirname "$0")/../data" && pwd)
answer=$(mktemp -d)
trap 'rm -rf "$answer"' EXIT

layer_norm() {
  normctl run --x "$data/x.npy" --gamma "$data/gamma.npy" --beta "$data/beta.npy" \
    --epsilon 1e-12 --out "$answer/y.npy" --expect "$data/expected.npy" --check "$@"
}

layer_norm                # an answer at once; tuning goes on behind it
layer_norm --policy wait  # the tuned answer
layer_norm --policy fail  # from memory: nothing is compiled, nothing is tuned
normctl ls                # what is remembered
