"""Property-based fuzz testing of Kafka-style replication.

The packages are links to the folders of the same names at the top of the repository, so that what is imported is
called `epochfuzz.model`, and nothing is called `model`, whatever the project in which epochfuzz is installed has.
"""
