"""Exhaustive searches that are kept in a directory: in memory (kept_search.py), or on Spark.

A search on Spark is for state spaces that don't fit into the memory of one machine. engine/explore/explore.py describes
the algorithm, which works level by level. A level is the set of states at one distance from the initial state, and is
stored on disk. A key is a state in packed form. Compiled code in Spark's workers computes the successors of a level's
states. Spark groups equal keys, and removes the keys of all earlier levels with joins that spill to disk. The counts of
a level are written after all of its states. A killed search therefore resumes from its last complete level. A search on
Spark results in the same counts of states and transitions, and in the same schedule, as a search in memory.
"""
