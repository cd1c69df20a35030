"""What a walk or a search of Kafka's protocols found, and what is asked of one."""
