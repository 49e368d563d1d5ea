"""NetHack on NLE: text observations, skills in words, and a map of what was seen.

``env.py`` is the environment; ``engine.py`` runs the game; ``grid.py``, ``areas.py``,
``level.py`` and ``tracker.py`` keep what was seen; ``text.py`` puts it into words, ``facts.py`` in
facts; ``commands.py`` reads actions, ``play.py`` and ``skills.py`` carry them out.
"""
