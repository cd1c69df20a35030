"""Campaigns that run Hypothesis state machines: epochfuzz's replication machine, or a user's own machine."""
