"""Everything of a model that knows no Kafka: its interface, its state, and the code that runs its rules."""
