"""Stores beside the graph: episodes, streams of records, and the durable store."""
