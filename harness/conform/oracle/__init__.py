"""Oracles: lockstep with the model, or the guarantees to clients."""
