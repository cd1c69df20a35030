"""Declare mutants of leadership, replication, truncation and the ISR."""
