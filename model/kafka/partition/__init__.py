"""A partition on its brokers: leadership, replication, truncation, the high watermark and the ISR."""
