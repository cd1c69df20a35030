"""A Kafka-compatible endpoint on 127.0.0.1 for testing clients. The partition that it serves is the model.

docs/how-to/test-your-client.md is the guide. All other modules of this package need epochfuzz's extra `client`.
"""
