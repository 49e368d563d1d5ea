"""Doors to agents of other programs: games and memories by protocol, one per file."""
