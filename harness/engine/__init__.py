"""Run the model's rules in compiled code: random runs and exhaustive search."""
