"""Players that follow rules, a file or folder a game; beside them is what they share.

A player knows the rules that read its game's text (``gym_memory.games.<game>.rules*``), and
nothing else of the game: no engine, no truth.
"""
