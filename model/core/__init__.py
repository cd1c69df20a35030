"""The parts of a model that do not depend on Kafka: its interface, its state, and the code that runs its rules."""
