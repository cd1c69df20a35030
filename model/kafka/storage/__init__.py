"""A replica's disk: the log, the leader epoch cache, and the producers and transactions that follow from the log."""
