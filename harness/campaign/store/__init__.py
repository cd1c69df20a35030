"""The directory of a campaign, and readers of its tables, with and without Spark."""
