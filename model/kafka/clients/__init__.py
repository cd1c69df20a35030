"""Producers, consumers and the coordinator of transactions."""
