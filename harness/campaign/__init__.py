"""Campaigns: work of some kind, fanned out by Spark, kept in a directory, and taken up again wherever it ended.

Kinds of work are walks, state machines and conformance: work.py says what a kind declares, campaign.py does it.

A campaign is its directory: what was asked for (parameters), one row per finished block of schedules (blocks), how
long they took (waves), what they come to (findings, cases) and that they are all there (outcome). Spark alone reads
and writes it, through DataFrames, so that it may lie wherever Spark can write, and Spark Connect serves as well.
"""
