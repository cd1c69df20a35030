"""Kafka's replication: its rules, in folders named as Kafka's own parts, none of which imports from one after it.

vocabulary, storage, history, controller, partition, broker, clients, contract.
"""
