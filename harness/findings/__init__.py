"""Findings of random runs and searches of Kafka's protocols, and requests for searches."""
