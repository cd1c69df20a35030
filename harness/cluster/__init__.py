"""Run Apache Kafka, a controller and three brokers on this machine, and check the acknowledged records.

The verdict comes from the records that clients saw, and from the brokers' own files and logs. Only schedules/ uses the
model, to choose schedules and to compare the results.
"""
