"""Cases: schedules in files, their expectations for each protocol, and the check of these expectations."""
