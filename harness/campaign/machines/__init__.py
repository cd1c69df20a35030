"""Campaigns of Hypothesis state machines: epochfuzz's own machine, and those of users."""
