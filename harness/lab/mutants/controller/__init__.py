"""Mutants of controllers, and of their knowledge of brokers."""
