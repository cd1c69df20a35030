"""Exhaustive runs: play every transition of the model within bounds on an adapter, along test sequences (tours)."""
