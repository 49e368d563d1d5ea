"""The ALFWorld family: an engine for its planning problems, official games, our own households.

``adapter.py`` is the environment; ``pddl.py``, ``world.py`` and ``text.py`` the engine;
``source.py``, ``catalog.py`` and ``household.py`` where games come from.
"""
