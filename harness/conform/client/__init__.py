"""A Kafka client as the system under test: it connects to the model, and reports its own view of the records.

docs/how-to/test-your-client.md is the guide.
"""
