"""Campaigns: long runs on Spark. They store their results in a directory, and resume after any interruption.

The kinds of work are random runs, state machines, conformance tests, transition tours, and schedules on clusters.
run/job.py declares the interface of a kind, and run/campaign.py runs the campaign.

A campaign is its directory. The table of parameters holds the request. The table of blocks has one row for each
finished block of schedules, and the table of waves holds the time of each group of blocks. The findings and cases are
the results, and the outcome marks them as complete. Spark alone writes the tables, through DataFrames. The directory
can therefore be in any file system that Spark can write, and a campaign can also use Spark Connect.
"""
