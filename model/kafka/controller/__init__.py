"""The controller: its leader-and-ISR updates, eligible leader replicas, fenced brokers, and fail-over."""
