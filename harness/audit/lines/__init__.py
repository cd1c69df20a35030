"""Lines of brokers' logs become events."""
