"""Metrics of outputs, and statistical comparison of runs."""
