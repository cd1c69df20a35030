"""Models of one's own on the command line: `--model module:NAME`, with plain texts for what Kafka's is told of."""
