"""Compile or interpret a model's rules and the engine's functions, and end runs at a deadline or at Ctrl-C."""
