"""Search all states within bounds for the shortest schedules that break a property, and certify their length."""
