"""Kafka's replication: its rules, in packages named after Kafka's own parts.

The packages, in order: vocabulary, storage, history, controller, partition, broker, clients, contract. No package
imports from a later package.
"""
