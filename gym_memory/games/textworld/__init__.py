"""TextWorld: the engine, and the families of games played on it.

``env.py`` is shared by all families. The file of a family says how its games are made.
``rules*.py`` read text; ``facts.py`` reads the engine's state, for scoring.
"""
