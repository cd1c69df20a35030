"""Exhaustive search on Spark, for state spaces that don't fit into the memory of one machine.

The algorithm is described in engine/explore/explore.py. It works level by level, with the levels on disk. Workers
expand the states of a level with the same kernel. Spark groups equal keys, and removes the keys of all earlier levels
with joins that spill to disk. The counts of a level are written after all of its states. A killed search therefore
resumes from its last complete level, and ends with the same states, transitions and schedule as a search in memory.
"""
