#!/bin/sh
# Runs one file of Python tests with Debian's Python, which is the one that sees Debian's gRPC.
# Exit status 77 (skipped) where a module is missing.
set -eu
python=/usr/bin/python3
for module in grpc google.protobuf numpy pytest; do
  if ! "$python" -c "import $module" 2>/dev/null; then
    echo "left out: $python has no module $module" >&2
    exit 77
  fi
done
exec "$python" -B -m pytest -q -p no:cacheprovider "$@"
