"""TextWorld: the engine, and the families of games played on it.

``adapter.py`` is what all families share; a family's file says how its games are made and which
there are (``manifests/``). ``rules*.py`` read text, ``facts.py`` the engine's state, for scoring.
"""
