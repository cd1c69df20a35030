"""Mistakes in leadership, replication, truncation and the ISR."""
