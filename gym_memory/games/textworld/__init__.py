"""TextWorld: the engine and its families of games.

All families share ``env.py``; the file of a family generates its games. ``rules*.py`` read text;
``facts.py`` reads the engine's state, for scoring.
"""
