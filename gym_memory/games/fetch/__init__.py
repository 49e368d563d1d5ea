"""Fetch: a house in pure Python, in which one thing after another is wanted."""
