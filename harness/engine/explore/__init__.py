"""Search all states within bounds for a shortest schedule that breaks a property, and prove that none is shorter."""
