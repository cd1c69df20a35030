"""The handlers of requests. Each returns the fields of a response, and waits as long as Kafka's broker would."""
