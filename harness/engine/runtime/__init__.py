"""Compile the model's rules and the engine's kernels, or interpret them; and end runs by a deadline or Ctrl-C."""
