"""Rule-based players, one file or folder per game, and the parts that they share.

A player may use the rules that read its game's text (``gym_memory.games.<game>.rules*``), but
neither the engine nor its true facts.
"""
