"""Campaigns on Kafka itself: every task starts a cluster, and plays the schedules that the model chooses."""
