"""Reproducible measurements, run by hand on a GPU machine."""
