"""Sessions, workers and versions of Spark."""
