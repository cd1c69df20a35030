"""The runs of fuzz and conform: their requests, and how their results are shown."""
