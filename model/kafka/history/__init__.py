"""The guarantees that clients have, and the requests that still wait; no part of Kafka knows all of them."""
