"""ALFWorld: an engine for its planning problems, official games, and generated households.

``env.py`` is the environment and finds its games; ``pddl.py`` and ``world.py`` are the engine;
``household.py`` generates games.
"""
