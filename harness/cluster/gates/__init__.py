"""Gates: proxies between the processes of a Kafka cluster.

They hold messages, and forward them when a schedule says so.
"""
