"""Disks: find lost committed records in the data directories of brokers (log.dirs).

found.py finds data directories. checkpoints.py and segments.py read their files. metadata_log.py and commits.py read
the records of __cluster_metadata and __consumer_offsets, and dumped.py reads the output of kafka-dump-log.sh.
replicas.py combines the files of a replica and checks that they agree. comparing.py compares the replicas of a
partition.

The directories belong to an operator whose cluster has a fault. So these modules write no file, follow no link, and
check all data that they read.
"""
