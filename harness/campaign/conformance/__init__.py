"""Campaigns that compare a user's own implementation with the model. Spark's workers run the implementation."""
