"""Search all states within bounds for shortest schedules that break a property, and prove that none is shorter."""
