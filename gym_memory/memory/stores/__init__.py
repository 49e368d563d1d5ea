"""What is kept beside the graph: episodes, streams of records, and the durable store.

What is worth keeping is decided by the memories.
"""
