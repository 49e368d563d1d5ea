"""Answering from passages that name what the question wants; no model, no key answers."""
