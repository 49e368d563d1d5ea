"""ALFWorld: an engine for its planning problems, official games, and generated households.

``env.py`` is the environment; ``pddl.py``, ``world.py`` and ``text.py`` the engine;
``source.py``, ``household.py`` and ``catalog.py`` supply the games.
"""
