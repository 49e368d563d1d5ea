"""Score a memory's graph against what an ideal observer would know."""
