"""A Kafka-compatible endpoint on 127.0.0.1 whose partition is the model.

docs/how-to/test-your-client.md is the guide. Everything here except `__init__` needs the extra `client`.
"""
