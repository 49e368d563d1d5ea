"""Players that follow rules, a folder a game; what they share of beliefs and ways is beside them.

A player knows the rules that read its game's text (``gym_memory.games.<game>.rules*``), and
nothing else of the game: no engine, no truth.
"""
