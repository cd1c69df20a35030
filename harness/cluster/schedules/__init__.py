"""Schedules of the model's events on a cluster whose messages are at gates."""
