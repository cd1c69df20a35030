"""Scenarios for a cluster. Each ends with a verdict on acknowledged records."""
