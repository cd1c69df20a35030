"""Hypothesis strategies and state machines that draw events for the model, and check properties after each event."""
