"""The binary format of Kafka's records, in segment files and in requests."""
