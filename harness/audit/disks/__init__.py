"""Disks: what the data directories of brokers (log.dirs) show about committed records that are gone.

found.py looks for data directories. checkpoints.py and segments.py read their files, metadata_log.py and commits.py the
records of __cluster_metadata and __consumer_offsets, dumped.py the output of kafka-dump-log.sh. replicas.py puts the
parts together and says whether they agree, and comparing.py compares the replicas of a partition.

The directories belong to somebody whose cluster has a fault: nothing here writes, follows a link, or trusts a byte.
"""
