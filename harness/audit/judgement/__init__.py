"""What the events of a partition show."""
