"""The handlers of requests. A handler waits as long as Kafka's broker would, and returns the response's fields."""
