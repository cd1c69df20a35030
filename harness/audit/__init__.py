"""Audit: what brokers have logged, read for committed records that are gone.

Lines become events (layouts.py, wordings.py), the events of a partition a history (history.py), and rules (rules.py)
find in it what the lines show, and nothing else. One process does that (one_process.py), or Spark does (on_spark.py),
with the same rules and the same result.
"""
