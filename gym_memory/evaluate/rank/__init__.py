"""Rank memories: one fixed suite, a card for each, ranks with ties.

``gym-memory rank ./my_memory.py:Mine --tier standard`` plays only what is named; the results of our
own memories are data (``reference/``).
"""
