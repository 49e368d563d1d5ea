"""TextWorld: the engine, and the families of games played on it.

``env.py`` is what all families share. The file of a family says how its games are made.
``rules*.py`` read text; ``facts.py`` reads the engine's state, for scoring.
"""
