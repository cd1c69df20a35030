"""Scenarios: fixed sequences of steps on a cluster, which end with a verdict on acknowledged records."""
