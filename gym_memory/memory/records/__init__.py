"""What is kept: episodes, streams of records, and the durable store."""
