"""Compares the daemon's tuned kernels with a plain copy and with other libraries, shape by shape.

python3 -m bench.compare --help; README.md beside this file says what is measured and how.
"""
