"""The compiled engines: random walks and complete search over the model's rules."""
