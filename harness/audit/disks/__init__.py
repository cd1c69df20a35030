"""Disks: find lost committed records from the data directories of brokers (log.dirs).

found.py finds data directories. checkpoints.py and segments.py read their files. metadata_log.py and commits.py read
the records of __cluster_metadata and __consumer_offsets, and dumped.py reads the output of kafka-dump-log.sh.
replicas.py combines the files of a replica and checks that they agree. comparing.py compares the replicas of a
partition.

The directories belong to an operator whose cluster has a fault, so these modules never write, follow a link, or trust
a byte.
"""
