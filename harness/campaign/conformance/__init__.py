"""Conformance campaigns: compare a user's own implementation with the model, on Spark's workers."""
