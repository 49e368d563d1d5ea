"""The ALFWorld family: an engine for its planning problems, official games, our own households."""
