"""The run of a campaign: its waves of blocks, the size of each wave, the progress, and the outcome."""
