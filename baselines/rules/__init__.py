"""Rule-based players, a file or folder a game, and the parts that they share.

A player knows the rules that read its game's text (``gym_memory.games.<game>.rules*``) and nothing
else of the game: no engine, no truth.
"""
