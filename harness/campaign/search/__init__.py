"""Exhaustive search on Spark, for state spaces that don't fit into the memory of one machine.

engine/explore/explore.py describes the algorithm. It works level by level: a level is the set of states at one distance
from the start, on disk. Workers expand the states of a level with compiled code. Spark groups equal keys, and removes
the keys of all earlier levels with joins that spill to disk. The counts of a level are written after all of its states.
A killed search therefore resumes from its last complete level, and ends with the same states, transitions and schedule
as a search in memory.
"""
