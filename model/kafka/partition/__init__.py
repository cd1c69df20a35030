"""The replication rules of one partition: leadership, replication, truncation, the high watermark and the ISR."""
