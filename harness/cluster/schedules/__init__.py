"""Play schedules of the model's events, such as `fetch B`, on a Kafka cluster with gates."""
