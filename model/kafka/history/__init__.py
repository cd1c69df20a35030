"""The guarantees to clients, and the requests that wait for a response. No broker of Kafka knows all of them."""
