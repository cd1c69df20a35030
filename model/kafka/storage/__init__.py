"""A replica's disk: the log, the leader epoch cache, and the state of producers and transactions in the log."""
