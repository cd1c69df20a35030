"""Conformance as the work of a campaign: somebody's own implementation, run on Spark's workers beside the model."""
