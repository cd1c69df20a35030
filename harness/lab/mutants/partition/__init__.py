"""Mutants of leadership, replication, truncation and the ISR."""
