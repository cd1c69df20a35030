"""Read the lines of broker logs and turn them into events."""
