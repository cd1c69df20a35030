"""Run campaigns: jobs that Spark distributes, that a directory stores, and that can be resumed after any interruption.

The kinds of work are random runs, state machines, conformance trials and transition tours, and clusters. run/work.py
declares the interface of a kind, and run/campaign.py runs the campaign.

A campaign is its directory. The directory holds the request (parameters), one row per finished block of schedules
(blocks), the time of each wave (waves), the results (findings, cases) and a mark that all results are present
(outcome). Spark alone writes the directory, through DataFrames. The directory can therefore lie wherever Spark can
write, and Spark Connect can be used as well.
"""
