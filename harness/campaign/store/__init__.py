"""The directory of a campaign, its tables, and their readers with and without Spark."""
