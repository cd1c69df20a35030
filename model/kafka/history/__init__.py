"""What was promised to whom, and what waits for an answer: nobody in Kafka knows all of it."""
