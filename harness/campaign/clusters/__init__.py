"""Campaigns on Kafka itself: every Spark task starts a Kafka cluster, and plays schedules on it."""
