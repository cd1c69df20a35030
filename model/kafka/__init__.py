"""The rules of Kafka's replication, in packages named after the parts of Kafka.

The packages, in order: vocabulary, storage, history, controller, partition, broker, clients, contract. No package
imports from a later package.
"""
