"""Makes bench/ importable for the tests beside this file; without numpy a test ends as skipped."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

try:
    import numpy  # noqa: F401
except ImportError:
    print("left out: this Python has no module numpy", file=sys.stderr)
    sys.exit(77)
