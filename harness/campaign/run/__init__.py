"""The run of a campaign: its waves of blocks, their size, its progress and its end."""
