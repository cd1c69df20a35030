"""An exhaustive search on Spark, for states that no machine has the memory for.

It is search/explore.py, level by level, with the levels on disk. Workers expand the states of a level with the same
kernel; Spark puts equal keys together and leaves out those of all levels before, by joins that spill to disk. What a
level comes to is noted when all of it is written, so that a search that is killed is taken up at its last level, and
ends with the same states, transitions and schedule as in memory.
"""
