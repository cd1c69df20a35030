"""Play schedules of the model's events on a cluster with gates."""
