"""An exhaustive search on Spark, for states that no machine has the memory for.

It is search/explore.py, level by level, with the levels on disk. Workers expand the states of a level with the same
kernel; Spark puts equal keys together and leaves out those of all levels before, by joins that spill to disk. The
counts of a level are written after all of its states. So a search that was killed goes on from its last whole level,
and ends with the same states, transitions and schedule as in memory.
"""
