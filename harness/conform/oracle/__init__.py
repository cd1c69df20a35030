"""Oracles, which decide whether a system under test is right: by comparison with the model, or by its guarantees."""
