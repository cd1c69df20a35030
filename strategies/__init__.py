"""Hypothesis strategies and state machines over the model: what to draw, and what to judge while drawing."""
