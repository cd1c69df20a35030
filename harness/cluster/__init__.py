"""Run Apache Kafka itself on this machine, with a controller and three brokers, and check for lost records.

The verdict comes from the records that clients saw, and from the brokers' own files and logs. Only the package
schedules uses the model, to choose schedules and to compare the results.
"""
