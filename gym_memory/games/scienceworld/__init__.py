"""ScienceWorld: thirty school experiments in a house, on the original engine in a Java process.

``env.py`` is the environment; ``engine.py`` and ``java/`` run the engine. ``rules*.py`` read its
text; ``facts.py`` reads the engine's objects, for scoring only.
"""
