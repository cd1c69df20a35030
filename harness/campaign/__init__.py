"""Campaigns: long runs on Spark or in local processes, which store their results and resume after any interruption.

The kinds of work are random runs, state machines, conformance tests, transition tours, and schedules on clusters.
run/job.py declares the interface of a kind, and run/campaign.py runs the campaign.

The directory holds the whole state of a campaign. The table `parameters` describes the job. The table of blocks has one
row for each finished block of schedules. The table of waves has the time that each wave (a group of blocks) took. The
findings and cases are the results, and the table `outcome` marks the results as complete. Both platforms write equal
tables, so either can resume a campaign of the other. Spark writes the tables through DataFrames, so it can keep them in
any file system that it can write, and use Spark Connect. Local processes need a directory on their machine.
"""
