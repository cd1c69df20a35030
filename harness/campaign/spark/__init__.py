"""Everything that depends on Spark's versions and sessions, and the code that runs in Spark's workers."""
