"""Findings: the violations that random runs and searches of Kafka's protocols found, with shortened schedules."""
