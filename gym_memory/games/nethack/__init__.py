"""NetHack on NLE: text observations, skills in words, and a map of what was seen.

``env.py`` is the environment and puts what is seen into words; ``engine.py`` runs the game;
``grid.py``, ``level.py`` and ``tracker.py`` keep what was seen, ``facts.py`` puts it into facts;
``commands.py`` reads actions, ``play.py`` and ``skills.py`` carry them out.
"""
