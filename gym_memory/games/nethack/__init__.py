"""NetHack on NLE: text observations, skills in words, and what a level looks like so far.

``adapter.py`` is the environment; ``engine.py`` speaks to the game; ``grid.py``, ``areas.py``,
``level.py`` and ``tracker.py`` keep what was seen; ``text.py`` puts it into words, ``facts.py`` in
facts; ``commands.py`` reads actions, ``play.py`` and ``skills_*.py`` carry them out.
"""
