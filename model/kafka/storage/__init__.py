"""What a replica has on its disk: the log, the leader epoch cache, what the log tells of producers and transactions."""
