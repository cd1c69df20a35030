"""Hypothesis strategies and state machines over the model: the data to draw, and the properties to check."""
