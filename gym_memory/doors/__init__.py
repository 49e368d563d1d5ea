"""Doors to agents of other programs: games and memories by their protocols, one a file."""
