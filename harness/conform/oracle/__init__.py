"""Oracles, which check a system under test: they compare it with the model, or check its guarantees to clients."""
