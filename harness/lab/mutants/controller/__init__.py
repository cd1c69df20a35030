"""Mistakes of controllers and of what they know of brokers."""
