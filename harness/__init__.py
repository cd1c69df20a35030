"""The harness around the model: replay, random runs, exhaustive search, shrinking, campaigns, and their output."""
