"""NetHack on NLE: text observations, skills in words, and what a level looks like so far.

``env.py`` is the environment; ``engine.py`` speaks to the game, ``level.py`` and ``tracker.py``
keep what was seen, ``text.py`` puts it into words, ``skills*.py`` carry actions out.
"""
