"""The compiled engines: random walks and exhaustive search over the model's rules."""
