"""Spark's sessions and workers."""
