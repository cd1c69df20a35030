"""The harness: replay, random runs, exhaustive search, shrinking and campaigns, and their output."""
