"""The run of a campaign: the waves (groups of blocks that Spark runs at once), the progress, and the status."""
