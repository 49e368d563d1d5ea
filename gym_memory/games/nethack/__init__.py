"""NetHack on NLE: text observations, skills as text actions, and a map of explored levels.

``env.py`` is the environment and describes the game in words; ``engine.py`` runs it. ``grid.py``,
``level.py`` and ``tracker.py`` track explored levels, and ``facts.py`` converts them to facts.
``commands.py`` parses actions; ``play.py`` and ``skills.py`` execute them.
"""
