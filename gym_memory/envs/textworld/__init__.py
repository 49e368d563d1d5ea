"""TextWorld: the engine, and the families of games played on it."""
