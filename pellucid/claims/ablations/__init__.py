"""Ablations: real parts with one idea removed, for experiments only."""
