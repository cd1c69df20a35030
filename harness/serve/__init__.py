"""A Kafka-compatible endpoint on 127.0.0.1 for testing clients. The endpoint serves one partition of the model.

docs/how-to/test-your-client.md is the guide. All other modules of this package need epochfuzz's extra `client`.
"""
