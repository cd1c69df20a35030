"""Kafka itself as the work of a campaign: every task has a cluster, and plays what the model chooses."""
