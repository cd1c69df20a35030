"""Compiled random runs and exhaustive searches of any Model, and the shrinking of schedules that they find."""
