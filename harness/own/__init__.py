"""Models of users on the command line: `--model module:NAME`, with plain texts instead of Kafka's narration."""
