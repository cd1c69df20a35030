"""The directory of a campaign, its tables, and the readers of the tables, with and without Spark."""
